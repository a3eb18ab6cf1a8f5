package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/admission"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/approval"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/model"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/search/index"
)

// sweepChunk is the maximum number of records that one transaction of a sweep removes.
const sweepChunk = 1000

// Host runs the tools of one app. Host is safe for concurrent use.
type Host struct {
	app         *app.App
	memory      *memory.Service
	table       abi.Table // the operations that guests can call
	tools       map[string]*tool
	engines     map[string]engine.Engine // by file extension
	languages   []engine.Language
	gate        *admission.Gate
	observers   []Observer
	limits      Limits
	tenants     []string
	programs    programCache
	agents      map[string]*hostAgent // by name
	blockRights memory.Authority      // of agents
	queue       turnQueue
	sleepRounds *SleepRounds
	activeTurns engine.Inflight
	ledger      *Ledger
	meter       *Meter
	models      *model.Set // the set is nil if the operator has configured no models
	index       *index.Set // nil if the index was passed in Options
	clock       func() time.Time
	rand        io.Reader
	log         *slog.Logger

	closed   atomic.Bool
	closing  <-chan struct{}    // closed when Close begins
	stop     context.CancelFunc // stops the Host's background work
	compiler *compiler
	stopped  sync.WaitGroup
}

// Open opens a Host. Open also compares the app's declarations with the records in the backend. If
// the access or the kind of a store with records has changed, Open returns a
// *memory.ScopeChangedError. Open does not compile the tools. Check compiles all tools. If a tool
// is not compiled yet, its first run compiles it. Therefore the file system that was passed to
// app.Load must stay open until the Host is closed. Open rejects an app whose file system is
// closed.
func Open(ctx context.Context, opts Options) (*Host, error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	if err := checkFiles(opts.App); err != nil {
		return nil, err
	}
	opts = opts.withDefaults()
	var own *index.Set
	if opts.Index == nil {
		own = index.New(opts.Backend, index.Options{})
		opts.Index = own
	}
	h := &Host{
		index:       own,
		sleepRounds: opts.SleepRounds,
		app:         opts.App, gate: opts.Gate, observers: opts.Observers, limits: opts.Limits.withDefaults(), tenants: opts.Tenants,
		clock: opts.Now, rand: opts.Rand, log: opts.Logger, models: opts.Models,
	}
	engines, err := byExtension(opts.Engines)
	if err != nil {
		return nil, err
	}
	h.engines, h.languages = engines, engine.Languages(engine.Infos(opts.Engines))
	service, err := memory.New(memory.Config{
		BeforeIdleEnd: func(ctx context.Context, tenant, id string) bool {
			return h.Sessions().BeforeIdleEnd(ctx, Caller{Tenant: tenant, Session: id})
		},
		ApprovalExpired: func(ctx context.Context, c partition.Caller, _ approval.Approval) {
			for _, o := range h.observers {
				o.ApprovalEnded(ctx, Caller{Tenant: c.Tenant, User: c.User, Session: c.Session, Workflow: c.Workflow}, approval.Expired)
			}
		},
		App: opts.App.ID, Backend: opts.Backend, Stores: opts.App.AllStores(), AutoCollections: opts.App.AutoCollections, Index: opts.Index, Kinds: opts.Kinds, Limits: opts.Memory,
		SessionIdle: opts.App.SessionIdle, WorkflowIdle: opts.App.WorkflowIdle, LedgerRetention: opts.Ledger, MeteringRetention: opts.Metering, FileURL: opts.FileURL, Now: h.clock, Rand: h.rand, Logger: h.log,
	})
	if err != nil {
		return nil, fmt.Errorf("open the app %q: %w", opts.App.ID, err)
	}
	h.memory, h.table = service, slices.Concat(service.Operations(), abi.Models())
	for _, tenant := range h.tenants {
		if err := service.Declare(ctx, tenant); err != nil {
			return nil, fmt.Errorf("open the app %q: %w", opts.App.ID, err)
		}
	}
	untilClosed, stop := context.WithCancel(context.Background())
	h.stop, h.closing = stop, untilClosed.Done()
	h.compiler = &compiler{h: h, untilClosed: untilClosed}
	addTools(h)
	h.agents, h.blockRights = agentsOf(h.app), blockRights(h.app)
	h.ledger = newLedger(h)
	h.ledger.start()
	h.meter = &Meter{store: service.Meter(), log: h.log}
	warnModels(h)
	startSweeper(untilClosed, h, opts.SweepEvery)
	return h, nil
}

// checkFiles rejects an app whose file system was closed after the app was loaded. The host could
// not read the tools of such an app.
func checkFiles(a *app.App) error {
	for _, t := range a.Tools {
		if a.Files == nil || len(t.Broken) > 0 {
			continue
		}
		if _, err := fs.Stat(a.Files, t.Source); errors.Is(err, fs.ErrClosed) {
			return abi.Faultf(abi.InvalidArgument, "open the app %q: the app's files were closed after app.Load", a.ID).
				WithHint("do not close the os.Root or fs.FS that was passed to app.Load before Host.Close")
		}
		return nil
	}
	return nil
}

// byExtension maps file extensions to engines.
func byExtension(engines []engine.Engine) (map[string]engine.Engine, error) {
	found := map[string]engine.Engine{}
	for _, e := range engines {
		if e == nil {
			return nil, errors.New("host: Options.Engines contains nil")
		}
		for _, ext := range e.Info().Extensions {
			if other := found[ext]; other != nil {
				return nil, fmt.Errorf("host: the engines %s and %s both support %s files", other.Info().Name, e.Info().Name, ext)
			}
			found[ext] = e
		}
	}
	return found, nil
}

// startSweeper starts the periodic sweep of a Host.
func startSweeper(ctx context.Context, h *Host, every time.Duration) {
	setDefault(&every, time.Minute)
	if every < 0 {
		return
	}
	h.stopped.Go(func() {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				if _, err := h.Sweep(ctx); err != nil && ctx.Err() == nil {
					h.log.Error("cannot remove expired data", "error", err)
				}
			case <-ctx.Done():
				return
			}
		}
	})
}

// Sweep removes records that expired more than an hour ago, and returns the number of removed
// records. An open Host also removes these records periodically.
func (h *Host) Sweep(ctx context.Context) (int, error) {
	total := 0
	for _, tenant := range h.tenants {
		n, err := h.memory.Sweep(ctx, tenant, sweepChunk)
		if total += n; err != nil {
			return total, err
		}
	}
	return total, nil
}

// App returns the app that the Host runs.
func (h *Host) App() *app.App { return h.app }

// Memory returns the memory service of the app. The service is meant for operators: it is not
// restricted to the data of one caller.
func (h *Host) Memory() *memory.Service { return h.memory }

// Ledger returns the app's ledger.
func (h *Host) Ledger() *Ledger { return h.ledger }

// Meter returns the meter of the app's usage.
func (h *Host) Meter() *Meter { return h.meter }

// errHostClosed is the fault of runs that begin after Close.
var errHostClosed = abi.Faultf(abi.Unavailable, "the host is closed")

// Close stops the Host's background work and closes its programs. Close waits until the active runs
// have ended. If an active run waits for the answer of a model, it fails with abi.Unavailable. A
// run that begins after the call of Close also fails with abi.Unavailable. Close does not close the
// backend. Close can be called more than once.
func (h *Host) Close() error {
	h.closed.Store(true)
	h.stop()
	h.stopped.Wait()
	h.activeTurns.Close() // agents must be closed before the tools that they call
	var errs []error
	for _, t := range h.tools {
		errs = append(errs, t.close())
	}
	errs = append(errs, h.programs.close())
	h.ledger.close() // after the last run
	h.meter.close()
	if h.index != nil {
		h.index.Close()
	}
	return errors.Join(errs...)
}

// The method "now" returns the current time. The time is truncated to the precision of the times in
// records.
func (h *Host) now() time.Time { return h.clock().UTC().Truncate(time.Microsecond) }

// newID returns a new id. If ids are sorted as text, they are in the order of their creation.
func (h *Host) newID(prefix string) (string, error) {
	id, err := ulid.New(ulid.Timestamp(h.clock()), h.rand)
	if err != nil {
		return "", fmt.Errorf("create an id: %w", err)
	}
	return prefix + "_" + id.String(), nil
}
