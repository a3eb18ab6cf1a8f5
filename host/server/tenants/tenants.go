package tenants

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/artifact"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/metering"
	"github.com/toolrun/toolrun/internal/spell"
)

// Options are what Apps are made of.
type Options struct {
	// Host is what every host is opened with, but for App, Tenants and SweepEvery, which is that of the Apps.
	Host host.Options
	// Observers makes the observers of an app beside those of Host. Default: none.
	Observers func(app string) []host.Observer
	// FileURL makes the address at which an uploaded file of an app can be downloaded. Default: there is none.
	FileURL func(app, tenant string, file artifact.Artifact) string
	// Retired is told of each host that is replaced or closed, before the uses of it have ended: who holds one for long
	// lets go of it then. Default: nobody is told.
	OnRetired func(*host.Host)
	// Tenants is how many tenants may have open hosts. Default 10,000.
	Tenants int
	// Open is how many hosts are open at a time: for one more, that is closed which was not used for longest, if there is one
	// that is not used. Default 1,000.
	Open int
	// Idle is how long a host is open that is not used; it is opened again when it is. Negative for ever. Default 1 hour.
	Idle time.Duration
	// Resting is called now and then with a host that nobody asked for as long: who holds one to be ready lets go of it then.
	// Default: nobody is told.
	OnIdle func(*host.Host)
}

// Apps are the apps that are served. It is safe for concurrent use.
type Apps struct {
	options Options

	mu     sync.Mutex
	closed bool
	apps   map[string]*app.App
	hosts  map[hostKey]*openHost
	gone   sync.WaitGroup // hosts that are being closed
	// serving is held while apps are replaced: of all tenants, but for none that opens or changes its own.
	serving sync.Mutex
	// working is held, for reading, by who may close hosts, and by Close.
	working  sync.RWMutex
	logger   *slog.Logger
	failures failureLog
	sweeper  sweeper
	// declaring has a lock for each place where stores are declared.
	declaring  keyedMutex
	stop       chan struct{} // closed by Close
	background sync.WaitGroup
}

// place is where a host belongs.
type hostKey struct{ tenant, app string }

// opened is a host with its uses.
type openHost struct {
	app   *app.App      // as its files have it
	ready chan struct{} // closed when host or err is set
	host  *host.Host
	err   error
	uses  sync.WaitGroup
	// Under the lock of the Apps: how many uses there are, and when the last one began or ended.
	inUse int
	used  time.Time
}

// New returns Apps without any app.
func New(opts Options) *Apps {
	setDefault(&opts.Tenants, 10_000)
	setDefault(&opts.Open, 1_000)
	setDefault(&opts.Idle, time.Hour)
	logger := opts.Host.Logger
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	a := &Apps{
		options: opts, apps: map[string]*app.App{}, hosts: map[hostKey]*openHost{}, stop: make(chan struct{}), logger: logger,
		failures: failureLog{logger: logger},
	}
	a.sweeper = sweeper{options: opts.Host, apps: a.all, logger: logger}
	if opts.Idle > 0 {
		a.background.Go(a.runIdleCloser)
	}
	a.background.Go(func() { a.sweeper.run(a.stop) })
	return a
}

func setDefault[T int | time.Duration](field *T, value T) {
	if *field == 0 {
		*field = value
	}
}

// Names returns the ids of the apps, sorted.
func (a *Apps) Names() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Sorted(maps.Keys(a.apps))
}

// all returns the declarations of the apps, sorted by their ids.
func (a *Apps) all() []*app.App {
	a.mu.Lock()
	defer a.mu.Unlock()
	var list []*app.App
	for _, id := range slices.Sorted(maps.Keys(a.apps)) {
		list = append(list, a.apps[id])
	}
	return list
}

// App returns the declarations of an app as its files have them.
func (a *Apps) App(id string) (*app.App, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	found, ok := a.apps[id]
	return found, ok
}

// Open returns how many apps of tenants are open.
func (a *Apps) Open() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.hosts)
}

// Usage returns a page of what apps use, also of those that are not open or no longer served; see metering.List. What
// runs of other tenants than the one that is named used is up to half a minute old.
func (a *Apps) Usage(ctx context.Context, q metering.Query) (found []metering.Usage, next string, err error) {
	if q.Tenant != "" {
		for _, h := range a.openOf(q.Tenant) {
			_ = h.Meter().Flush() // which logs why; what is kept is older then
		}
	}
	return metering.List(ctx, a.options.Host.Backend, q)
}

// openOf returns the hosts of a tenant that are open.
func (a *Apps) openOf(tenant string) (hosts []*host.Host) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for at, o := range a.hosts {
		if at.tenant != tenant {
			continue
		}
		select {
		case <-o.ready:
		default:
			continue
		}
		if o.host != nil {
			hosts = append(hosts, o.host)
		}
	}
	return hosts
}

// Host returns the host of a tenant's app, opening it at its first use. Whoever gets it calls release when done with it.
func (a *Apps) Host(ctx context.Context, tenant, id string) (h *host.Host, release func(), err error) {
	o, mine, err := a.find(hostKey{tenant, id})
	if err != nil {
		return nil, nil, err
	}
	if mine != nil {
		o.host, o.err = a.open(ctx, tenant, mine, nil)
		close(o.ready)
		if o.err != nil {
			a.failures.log(hostKey{tenant, id}, o.err)
			a.forget(hostKey{tenant, id}, o)
		}
	}
	select {
	case <-o.ready:
	case <-ctx.Done():
		a.release(o)
		return nil, nil, ctx.Err()
	}
	if o.err != nil {
		a.release(o)
		return nil, nil, openFault(o.err)
	}
	return o.host, func() { a.release(o) }, nil
}

// find returns what is opened at a place, counting a use; mine is set where the caller is to open it.
func (a *Apps) find(at hostKey) (o *openHost, mine *app.App, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	declared := a.apps[at.app]
	switch {
	case a.closed:
		return nil, nil, errClosed
	case declared == nil:
		return nil, nil, a.errNoApp(at.app)
	}
	if o := a.hosts[at]; o != nil {
		o.use()
		return o, nil, nil
	}
	if most := a.options.Tenants * len(a.apps); len(a.hosts) >= min(a.options.Open, most) && !a.closeOldest() && len(a.hosts) >= most {
		return nil, nil, abi.Faultf(abi.QuotaExceeded, "this service has as many tenants as it may have: %d", a.options.Tenants)
	}
	o = &openHost{app: declared, ready: make(chan struct{})}
	o.use()
	a.hosts[at] = o
	return o, declared, nil
}

var errClosed = abi.Faultf(abi.Unavailable, "the service is closing").WithHint("try again in a moment")

// noApp says that there is no such app. The caller holds mu.
func (a *Apps) errNoApp(id string) error {
	f := abi.Faultf(abi.NotFound, "there is no app %q", id)
	if near := spell.Name(id, slices.Sorted(maps.Keys(a.apps))); near != "" {
		return f.WithHint("did you mean %q?", near)
	}
	return f
}

// open opens a host with the stores that the tenant declared, and more of them.
func (a *Apps) open(ctx context.Context, tenant string, declared *app.App, more []declare.Store) (*host.Host, error) {
	ctx = context.WithoutCancel(ctx) // others wait for it too
	stores, err := memory.Declared(ctx, a.options.Host.Backend, tenant, declared.ID)
	if err != nil {
		return nil, fmt.Errorf("open the app %q: %w", declared.ID, err)
	}
	stores = append(slices.DeleteFunc(stores, func(s declare.Store) bool { return storeNamed(more, s.Name) != nil }), more...)
	merged := *declared
	merged.Stores = slices.Clone(declared.Stores)
	for _, s := range stores {
		var replaced bool
		if merged.Stores, replaced = merge(merged.Stores, s); replaced {
			a.logger.Warn("a store of the app file is what the tenant declared before", "tenant", tenant, "store", s.Name)
		}
	}
	opts := a.options.Host
	opts.App, opts.Tenants, opts.SweepEvery = &merged, []string{tenant}, -1 // Apps sweep for all
	if a.options.Observers != nil {
		opts.Observers = append(slices.Clone(opts.Observers), a.options.Observers(declared.ID)...)
	}
	if link := a.options.FileURL; link != nil {
		opts.FileURL = func(tenant string, file artifact.Artifact) string { return link(declared.ID, tenant, file) }
	}
	return host.Open(ctx, opts)
}

// merge adds a store that a tenant declared. The file's word goes before it, but where the file means other records: a
// tenant's declaration must neither keep the app from being opened, nor lose what is stored under it. It reports whether
// the tenant's declaration replaced that of the file.
func merge(stores []declare.Store, s declare.Store) (all []declare.Store, replaced bool) {
	i := slices.IndexFunc(stores, func(other declare.Store) bool { return strings.EqualFold(other.Name, s.Name) })
	if i < 0 {
		return append(stores, s), false
	}
	if stores[i].Access != s.Access || stores[i].Name != s.Name {
		stores[i] = s
		return stores, true
	}
	return stores, false
}

// openFault says why an app cannot be opened for a tenant, in words that are anybody's business.
func openFault(err error) error {
	if moved, ok := errors.AsType[*memory.ScopeChangedError](err); ok {
		return abi.Faultf(abi.Unavailable, "the app cannot be opened: its store %q has records of access %q", moved.Store, moved.Was).
			WithHint("the app file has to declare it as it was, or another store")
	}
	return err
}

func (a *Apps) forget(at hostKey, o *openHost) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.hosts[at] == o {
		delete(a.hosts, at)
	}
}

// retire closes a host once its uses have ended.
func (a *Apps) retire(o *openHost) {
	a.gone.Go(func() {
		<-o.ready
		if o.host != nil && a.options.OnRetired != nil {
			a.options.OnRetired(o.host)
		}
		o.uses.Wait()
		if o.host != nil {
			_ = o.host.Close() // its programs have told what went wrong
		}
	})
}

// Close ends all hosts, after the runs under way; later ones are unavailable.
func (a *Apps) Close() error {
	a.serving.Lock()
	defer a.serving.Unlock()
	a.mu.Lock()
	first := !a.closed
	a.closed = true
	a.mu.Unlock()
	if first {
		close(a.stop)
	}
	a.background.Wait()
	a.working.Lock()
	defer a.working.Unlock()
	a.mu.Lock()
	hosts := a.hosts
	a.hosts = map[hostKey]*openHost{}
	a.mu.Unlock()
	for _, o := range hosts {
		a.retire(o)
	}
	a.gone.Wait()
	return nil
}
