package tenants

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory"
)

// checkTimeout is the maximum time for checking all tenants of an app. Checking a tenant takes a
// few microseconds, or longer if the access of one of the tenant's stores has changed.
const checkTimeout = 10 * time.Second

// checkTenants rejects an app if the access of a store differs from the access with which a
// tenant's records were written. Such a tenant could not open the app. checkTenants also checks
// tenants without an open host. For each collection whose vectors are from another model,
// checkTenants logs a warning. checkTenants does not change any data. If the check exceeds its time
// limit, a log line reports that the remaining tenants were not checked.
func checkTenants(ctx context.Context, opts host.Options, logger *slog.Logger, declared *app.App) error {
	bounded, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	of := func(stores []declare.Store) (*memory.Service, error) {
		return memory.New(memory.Config{App: declared.ID, Backend: opts.Backend, Stores: stores, AutoCollections: declared.AutoCollections, Limits: opts.Memory, Now: opts.Now, Logger: opts.Logger})
	}
	common, err := of(declared.AllStores())
	if err != nil {
		return fmt.Errorf("open the app %q: %w", declared.ID, err)
	}
	checked := 0
	err = common.DeclaredTenants(bounded, func(tenant string) error {
		own, err := memory.Declared(bounded, opts.Backend, tenant, declared.ID)
		service := common
		if err == nil && len(own) > 0 {
			service, err = of(merged(declared, own))
		}
		if err == nil {
			err = service.CheckDeclared(bounded, tenant)
		}
		if err != nil {
			return fmt.Errorf("open the app %q for the tenant %q: %w", declared.ID, tenant, err)
		}
		checked++
		return warnEmbeddings(bounded, opts, service, logger, tenant, declared.ID)
	})
	_, moved := errors.AsType[*memory.ScopeChangedError](err)
	if err != nil && !moved && ctx.Err() == nil && bounded.Err() != nil {
		logger.Warn("some tenants of an app were not checked for stores with changed access", "app", declared.ID, "checked", checked, "limit", checkTimeout.String())
		return nil
	}
	return err
}

// warnEmbeddings logs a warning for each collection of a tenant whose vectors are from a different
// model than the configured model. The service nevertheless serves the app: runs that do not use
// the collection succeed, and operators can move the entries to the new model.
func warnEmbeddings(ctx context.Context, opts host.Options, s *memory.Service, logger *slog.Logger, tenant, id string) error {
	faults, err := host.CheckEmbeddings(ctx, s, opts.Models, tenant)
	for _, f := range faults {
		logger.Warn("runs cannot use a collection", "tenant", tenant, "app", id, "collection", f.Store, "reason", f.Message, "hint", f.Hint)
	}
	return err
}

// The function merged returns the stores of an app and the stores that a tenant declared.
func merged(declared *app.App, own []declare.Store) []declare.Store {
	stores := slices.Clone(declared.AllStores())
	for _, s := range own {
		stores, _ = merge(stores, s)
	}
	return stores
}

const (
	// failureEvery is the minimum interval between log lines about the same app and tenant.
	failureEvery = time.Minute
	// maxFailures is the maximum number of combinations of tenant and app that are logged within
	// failureEvery.
	maxFailures = 1000
)

// failureLog logs why apps cannot be opened. Each request of a tenant tries to open the app again,
// so failureLog logs each combination of tenant and app only once per failureEvery. failureLog is
// safe for concurrent use.
type failureLog struct {
	logger *slog.Logger

	mu     sync.Mutex
	logged map[hostKey]time.Time
}

// due reports whether a failure to open a host should be logged.
func (f *failureLog) due(at hostKey, now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if age := now.Sub(f.logged[at]); 0 <= age && age < failureEvery {
		return false
	}
	if len(f.logged) >= maxFailures {
		for other, logged := range f.logged {
			if now.Sub(logged).Abs() >= failureEvery {
				delete(f.logged, other)
			}
		}
		if len(f.logged) >= maxFailures {
			return false
		}
	}
	if f.logged == nil {
		f.logged = map[hostKey]time.Time{}
	}
	f.logged[at] = now
	return true
}

// log logs the reason why an app cannot be opened for a tenant.
func (f *failureLog) log(at hostKey, err error) {
	if !f.due(at, time.Now()) {
		return
	}
	attrs := []any{"tenant", at.tenant, "app", at.app}
	if moved, ok := errors.AsType[*memory.ScopeChangedError](err); ok {
		attrs = append(attrs, "store", moved.Store)
	}
	f.logger.Error("cannot open an app for a tenant", append(attrs, "error", err)...)
}
