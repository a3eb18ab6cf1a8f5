package tenants

import (
	"context"
	"log/slog"
	"time"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/storage"
)

const (
	// sweepChunk is the maximum number of records that one call frees. sweepChunks is the maximum
	// number of calls in one sweep.
	sweepChunk  = 1000
	sweepChunks = 100
)

// sweeper frees expired data in the backend. sweeper covers all hosts and also tenants without an
// open host.
type sweeper struct {
	options host.Options
	apps    func() []*app.App // returns the apps that are served
	// open returns the host of a tenant's app; see Apps.Host.
	open   func(ctx context.Context, tenant, id string) (h *host.Host, release func(), err error)
	logger *slog.Logger
}

// run sweeps the backend periodically until the channel "stop" is closed.
func (s *sweeper) run(stop <-chan struct{}) {
	every := s.options.SweepEvery
	if every == 0 {
		every = time.Minute
	}
	if every < 0 || s.options.Backend == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		<-stop
		cancel()
	}()
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			if err := s.sweep(ctx); err != nil && ctx.Err() == nil {
				s.logger.Error("cannot remove expired data", "error", err)
			}
		case <-stop:
			return
		}
	}
}

// Sweep frees records that expired more than an hour ago, ends sessions that exceeded the idle time
// of their app, and truncates ledgers to their maximum size. Sweep covers all apps and tenants.
// Sweep also runs periodically in the background.
func (a *Apps) Sweep(ctx context.Context) error { return a.sweeper.sweep(ctx) }

func (s *sweeper) sweep(ctx context.Context) error {
	now := storage.ClockOf(s.options.Backend)
	if s.options.Now != nil {
		now = s.options.Now
	}
	for range sweepChunks {
		n, err := memory.FreeExpired(ctx, s.options.Backend, now(), sweepChunk)
		if err != nil {
			return err
		}
		if n < sweepChunk {
			break
		}
	}
	for _, declared := range s.apps() {
		if err := s.sweepApp(ctx, declared); err != nil {
			return err
		}
	}
	return nil
}

// sweepApp sweeps all tenants of an app.
func (s *sweeper) sweepApp(ctx context.Context, declared *app.App) error {
	opts := s.options
	service, err := memory.New(memory.Config{
		App: declared.ID, Backend: opts.Backend, Limits: opts.Memory, SessionIdle: declared.SessionIdle, WorkflowIdle: declared.WorkflowIdle,
		LedgerRetention: opts.Ledger, Now: opts.Now, Logger: opts.Logger, BeforeIdleEnd: s.beforeIdleEnd(declared),
	})
	if err != nil {
		return err
	}
	return service.Tenants(ctx, func(tenant string) error { return service.SweepTenant(ctx, tenant) })
}

// beforeIdleEnd returns the function that fires the events of agents at the end of idle sessions,
// or nil if the app has no agents. The returned function opens the host of the tenant.
func (s *sweeper) beforeIdleEnd(declared *app.App) func(ctx context.Context, tenant, id string) bool {
	if declared.AgentSet == nil {
		return nil
	}
	return func(ctx context.Context, tenant, id string) bool {
		h, release, err := s.open(ctx, tenant, declared.ID)
		if err != nil {
			s.logger.Warn("cannot open an app to end its idle sessions", "tenant", tenant, "app", declared.ID, "error", err)
			return ctx.Err() == nil // sessions must end even if the app cannot be opened
		}
		defer release()
		return h.Sessions().BeforeIdleEnd(ctx, host.Caller{Tenant: tenant, Session: id})
	}
}
