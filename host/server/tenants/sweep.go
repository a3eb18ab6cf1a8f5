package tenants

import (
	"context"
	"log/slog"
	"time"

	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/memory"
)

const (
	// sweepChunk is how many records one call of a sweep frees, and sweepChunks how many calls one sweep makes.
	sweepChunk  = 1000
	sweepChunks = 100
)

// startSweeper sweeps the backend now and then, until Close: once for all hosts, and also for tenants whose hosts
// are not open.
func (a *Apps) startSweeper() {
	every := a.options.Host.SweepEvery
	if every == 0 {
		every = time.Minute
	}
	if every < 0 || a.options.Host.Backend == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	a.resting.Go(func() {
		<-a.stop
		cancel()
	})
	a.resting.Go(func() {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				if err := a.Sweep(ctx); err != nil && ctx.Err() == nil {
					a.logger().Error("sweep", "error", err)
				}
			case <-a.stop:
				return
			}
		}
	})
}

func (a *Apps) logger() *slog.Logger {
	if log := a.options.Host.Logger; log != nil {
		return log
	}
	return slog.New(slog.DiscardHandler)
}

// Sweep frees the records that expired more than an hour ago, ends sessions that were not used for as long as their
// app says, and keeps ledgers within their bounds, for all apps and tenants. Apps that are open do so by themselves.
func (a *Apps) Sweep(ctx context.Context) error {
	now := time.Now
	if a.options.Host.Now != nil {
		now = a.options.Host.Now
	}
	for range sweepChunks {
		n, err := memory.FreeExpired(ctx, a.options.Host.Backend, now(), sweepChunk)
		if err != nil {
			return err
		}
		if n < sweepChunk {
			break
		}
	}
	for _, id := range a.Names() {
		declared, ok := a.App(id)
		if !ok {
			continue
		}
		if err := a.sweepApp(ctx, declared); err != nil {
			return err
		}
	}
	return nil
}

// sweepApp sweeps all tenants of an app.
func (a *Apps) sweepApp(ctx context.Context, declared *app.App) error {
	opts := a.options.Host
	service, err := memory.New(memory.Config{
		App: declared.ID, Backend: opts.Backend, Limits: opts.Memory, SessionIdle: declared.SessionIdle,
		LedgerRetention: opts.Ledger, Now: opts.Now, Logger: opts.Logger,
	})
	if err != nil {
		return err
	}
	return service.Tenants(ctx, func(tenant string) error { return service.SweepTenant(ctx, tenant) })
}
