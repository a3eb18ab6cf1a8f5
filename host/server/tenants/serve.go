package tenants

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory"
)

// Serve replaces the apps that are served. Serve reopens each open app for all of its tenants. If
// an app cannot be reopened, for example because the access of a store with records has changed,
// the previous version of the app stays in use. The error contains the reason. Serve also checks
// the records of tenants without an open host.
func (a *Apps) Serve(ctx context.Context, served []*app.App) error {
	a.serving.Lock()
	defer a.serving.Unlock()
	a.working.RLock()
	defer a.working.RUnlock()
	next := map[string]*app.App{}
	for _, declared := range served {
		if other := next[declared.ID]; other != nil {
			return fmt.Errorf("two apps have the id %q", declared.ID)
		}
		next[declared.ID] = declared
	}
	var errs []error
	for id, declared := range next {
		if err := a.reopen(ctx, declared); err != nil {
			errs = append(errs, err)
			if was, ok := a.App(id); ok {
				next[id] = was
			}
		}
	}
	a.mu.Lock()
	a.apps = next
	var left []*openHost
	for at, o := range a.hosts {
		if next[at.app] == nil {
			left = append(left, o)
			delete(a.hosts, at)
		}
	}
	a.mu.Unlock()
	for _, o := range left {
		a.retire(o)
	}
	for id, declared := range next { // hosts of the previous version that were opened in the meantime
		if err := a.replace(ctx, declared); err != nil {
			errs = append(errs, fmt.Errorf("the app %s: %w", id, err))
		}
	}
	return errors.Join(errs...)
}

// reopen opens a new version of an app for each tenant that has an open host. First, reopen checks
// the stores of all tenants; see checkTenants. The caller must hold the mutex serving.
func (a *Apps) reopen(ctx context.Context, declared *app.App) error {
	if err := checkTenants(ctx, a.options.Host, a.logger, declared); err != nil {
		return err
	}
	return a.replace(ctx, declared)
}

// replace replaces each open host of an app by a host of the new version. If the new version cannot
// be opened for one tenant, the app is not replaced for any tenant. The caller must hold the mutex
// serving.
func (a *Apps) replace(ctx context.Context, declared *app.App) error {
	fresh := map[hostKey]*openHost{}
	was := a.outdated(declared)
	for at := range was {
		h, err := a.open(ctx, at.tenant, declared, nil)
		if err != nil {
			for _, o := range fresh {
				a.retire(o)
			}
			return fmt.Errorf("tenant %q: %w", at.tenant, err)
		}
		fresh[at] = newOpenHost(declared, h)
	}
	for at, o := range fresh {
		if !a.swap(at, was[at], o, nil) { // closed or replaced in the meantime by its tenant: Serve checks again
			a.retire(o)
		}
	}
	return nil
}

// newOpenHost returns an openHost that is already open.
func newOpenHost(declared *app.App, h *host.Host) *openHost {
	o := &openHost{app: declared, ready: make(chan struct{}), host: h, used: time.Now()}
	close(o.ready)
	return o
}

// outdated returns the open hosts that use an earlier declaration of the app.
func (a *Apps) outdated(declared *app.App) map[hostKey]*openHost {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := map[hostKey]*openHost{}
	for at, o := range a.hosts {
		if at.app == declared.ID && o.app != declared {
			list[at] = o
		}
	}
	return list
}

// swap replaces an old host by a new host. A nil host means that no host is open. swap fails if the
// old host has already been replaced. If the argument "declared" is not nil, swap also fails if the
// service no longer uses this declaration of the app.
func (a *Apps) swap(at hostKey, was, o *openHost, declared *app.App) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.hosts[at] != was || a.closed || declared != nil && a.apps[at.app] != declared {
		return false
	}
	a.hosts[at] = o
	if was != nil {
		a.retire(was)
	}
	return true
}

// drop closes the host of a key. The next use opens the host again.
func (a *Apps) drop(at hostKey) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if o := a.hosts[at]; o != nil {
		delete(a.hosts, at)
		a.retire(o)
	}
}

// DeclareStore creates a store for a tenant, or changes a store that DeclareStore has created.
// Changing the access of a store with records causes a conflict. Stores of the app file can be
// changed only in that file.
func (a *Apps) DeclareStore(ctx context.Context, tenant, id string, st declare.Store, create bool) error {
	return a.declare(ctx, tenant, id, []declare.Store{st}, func(known []declare.Store) error { return checkDeclare(known, st, create) })
}

// DeclareStores creates or changes several stores, like DeclareStore. Either all changes succeed,
// or no change is made.
func (a *Apps) DeclareStores(ctx context.Context, tenant, id string, stores []declare.Store) error {
	return a.declare(ctx, tenant, id, stores, func(known []declare.Store) error {
		for _, st := range stores {
			if other := storeNamed(known, st.Name); other != nil && other.Name != st.Name {
				return abi.Faultf(abi.Conflict, "the store %q already exists", other.Name)
			}
		}
		return nil
	})
}

// declare adds declarations to the tenant's declarations, unless the function "check" returns an
// error.
func (a *Apps) declare(ctx context.Context, tenant, id string, stores []declare.Store, check func(known []declare.Store) error) error {
	at := hostKey{tenant, id}
	defer a.declaring.lock(at)()
	a.working.RLock()
	defer a.working.RUnlock()
	declared, was, err := a.at(at)
	if err != nil {
		return err
	}
	for _, st := range stores {
		if _, isBlock := withoutBlock(declared.Blocks, st.Name); isBlock || storeNamed(declared.Stores, st.Name) != nil {
			return abi.Faultf(abi.Conflict, "the app file declares the store %q", st.Name).WithHint("change the store in the app file, and reload the app")
		}
	}
	known, err := memory.Declared(ctx, a.options.Host.Backend, tenant, id)
	if err != nil {
		return err
	}
	if err := check(known); err != nil {
		return err
	}
	for _, st := range stores {
		if err := memory.CheckStrict(st, a.options.Host.Kinds...); err != nil {
			return declarationFault(stores, err)
		}
	}
	h, err := a.open(ctx, tenant, declared, stores)
	if err != nil {
		return declarationFault(stores, err)
	}
	o := newOpenHost(declared, h)
	if err := memory.SaveDeclared(ctx, a.options.Host.Backend, tenant, id, stores...); err != nil {
		a.retire(o)
		return err
	}
	if !a.swap(at, was, o, declared) { // opened, closed or replaced in the meantime
		a.retire(o)
		a.drop(at)
	}
	return nil
}

// The method "at" returns the current declaration of an app and its open host. If the host is not
// open, the method "at" returns nil for the host.
func (a *Apps) at(at hostKey) (*app.App, *openHost, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	declared := a.apps[at.app]
	switch {
	case a.closed:
		return nil, nil, errClosed
	case declared == nil:
		return nil, nil, a.errNoApp(at.app)
	}
	return declared, a.hosts[at], nil
}

// storeNamed returns the store with the given name, or nil. storeNamed ignores case.
func storeNamed(stores []declare.Store, name string) *declare.Store {
	i := slices.IndexFunc(stores, func(s declare.Store) bool { return strings.EqualFold(s.Name, name) })
	if i < 0 {
		return nil
	}
	return &stores[i]
}

// checkDeclare rejects creating a store that already exists and changing a store that does not
// exist.
func checkDeclare(known []declare.Store, st declare.Store, create bool) error {
	other := storeNamed(known, st.Name)
	switch {
	case create && other != nil:
		return abi.Faultf(abi.Conflict, "the store %q already exists", other.Name)
	case !create && (other == nil || other.Name != st.Name):
		return abi.Faultf(abi.NotFound, "the store %q does not exist", st.Name)
	}
	return nil
}

// declarationFault returns the error for stores that cannot be declared.
func declarationFault(stores []declare.Store, err error) error {
	if moved, ok := errors.AsType[*memory.ScopeChangedError](err); ok {
		return abi.Faultf(abi.Conflict, "%s has %s", moved.What(), moved.Held()).
			WithHint("restore the old declaration, rename the new store, or remove the records")
	}
	if _, ok := errors.AsType[*abi.Fault](err); ok {
		return err
	}
	cause := err
	for next := errors.Unwrap(cause); next != nil; next = errors.Unwrap(cause) {
		cause = next
	}
	var names []string
	for _, st := range stores {
		names = append(names, strconv.Quote(st.Name))
	}
	return abi.Faultf(abi.InvalidArgument, "the store %s cannot be declared: %v", strings.Join(names, " or "), cause)
}
