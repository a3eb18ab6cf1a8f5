// Command embedding is an example program that you can copy. The command runs the tools of an app
// for the tenants of a platform. The command listens on 127.0.0.1:8080. POST /TENANT/USER/TOOL runs
// a tool with the body as its input.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/admission"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/engines"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/sandbox"
	"github.com/toolrun/toolrun/host/server/tenants"
	"github.com/toolrun/toolrun/host/storage/bolt"
)

func main() {
	engines.Main() // worker processes run the same program, and this call does not return in a worker process
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serve(ctx, ".", "memory.db", "127.0.0.1:8080"); err != nil {
		log.Fatal(err)
	}
}

// serve serves the app in a folder until ctx ends, and then waits for active runs.
func serve(ctx context.Context, folder, database, address string) error {
	p, err := open(ctx, folder, database)
	if err != nil {
		return err
	}
	web := &http.Server{Addr: address, Handler: p.handler(), ReadHeaderTimeout: 5 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- web.ListenAndServe() }()
	select {
	case err = <-failed:
	case <-ctx.Done():
		drain, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		err = web.Shutdown(drain)
	}
	return errors.Join(err, p.close())
}

// platform contains everything that is needed to run tools. A process has one platform for any
// number of tenants.
type platform struct {
	app    string
	folder *os.Root
	db     *bolt.Backend
	pool   *sandbox.Pool
	apps   *tenants.Apps
	meter  meter
}

// open opens a platform for the app in a folder.
func open(ctx context.Context, folder, database string) (p *platform, err error) {
	p = &platform{}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.close())
		}
	}()
	if p.folder, err = os.OpenRoot(folder); err != nil { // the folder stays open, because a tool is read at its first run
		return p, err
	}
	declared, problems := app.Load(p.folder.FS(), app.FileName)
	if err := problems.Err(); err != nil {
		return p, err
	}
	p.app = declared.ID
	if p.db, err = bolt.Open(database, nil); err != nil {
		return p, err
	}
	gate, err := admission.New(admission.Limits{}) // fair to tenants, apps and users
	if err != nil {
		return p, err
	}
	if p.pool, err = engines.NewPool(sandbox.Options{}); err != nil {
		return p, err
	}
	p.apps = tenants.New(tenants.Options{ // opens a host for each tenant at its first run
		Host: host.Options{
			Backend: p.db, Engines: p.pool.Engines(), Gate: gate, Observers: []host.Observer{&p.meter},
			Ledger: 30 * 24 * time.Hour, Metering: 400 * 24 * time.Hour,
		},
	})
	return p, p.apps.Serve(ctx, []*app.App{declared})
}

// close first ends the runs, and then closes the resources that runs use.
func (p *platform) close() error {
	var errs []error
	if p.apps != nil {
		errs = append(errs, p.apps.Close())
	}
	if p.pool != nil {
		errs = append(errs, p.pool.Close())
	}
	if p.db != nil {
		errs = append(errs, p.db.Close())
	}
	if p.folder != nil {
		errs = append(errs, p.folder.Close())
	}
	return errors.Join(errs...)
}

// run runs a tool for a user of a tenant. The platform must verify the user and the tenant, and
// must not read them from the input.
func (p *platform) run(ctx context.Context, tenant, user, tool string, input json.RawMessage) (*report.Result, error) {
	h, release, err := p.apps.Host(ctx, tenant, p.app)
	if err != nil {
		return nil, err
	}
	defer release()
	return h.Run(ctx, host.Invocation{Tool: tool, Input: input, Caller: host.Caller{Tenant: tenant, User: user}})
}

func (p *platform) handler() http.Handler {
	mux := http.NewServeMux()
	// A platform authenticates the caller here. This example trusts the path.
	mux.HandleFunc("POST /{tenant}/{user}/{tool}", func(w http.ResponseWriter, r *http.Request) {
		input, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil {
			http.Error(w, "the body exceeds 1 MiB", http.StatusRequestEntityTooLarge)
			return
		}
		result, err := p.run(r.Context(), r.PathValue("tenant"), r.PathValue("user"), r.PathValue("tool"), input)
		if result == nil {
			http.Error(w, abi.FaultOf(err).Error(), http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(result)
	})
	return mux
}

// meter counts runs, and rejects the runs of tenants that have used up their plan. Host.Meter
// returns the same counts by day, from the database.
type meter struct {
	host.NopObserver

	mu   sync.Mutex
	runs map[string]int
	cpu  map[string]time.Duration
}

// plan is the number of runs that a tenant may make.
const plan = 1000

// BeforeRun rejects a run before a tool is compiled or executed.
func (m *meter) BeforeRun(_ context.Context, run host.RunInfo) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.runs[run.Caller.Tenant] >= plan {
		return abi.Faultf(abi.QuotaExceeded, "the tenant has used all runs of its plan").WithHint("upgrade the plan")
	}
	return nil
}

// RunEnded counts a run whose tool was executed. A replayed Result has the Usage of the earlier
// run.
func (m *meter) RunEnded(_ context.Context, run host.RunInfo, result *report.Result) {
	if run.Outcome != host.OutcomeExecuted {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.runs == nil {
		m.runs, m.cpu = map[string]int{}, map[string]time.Duration{}
	}
	m.runs[run.Caller.Tenant]++
	m.cpu[run.Caller.Tenant] += time.Duration(result.Usage.CPUMS * float64(time.Millisecond))
}
