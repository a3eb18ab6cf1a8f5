package tenants

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/artifact"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/metering"
	"github.com/toolrun/toolrun/host/search/index"
	"github.com/toolrun/toolrun/internal/spell"
)

// Options configure Apps.
type Options struct {
	// Host contains options for all hosts. The fields Host.App and Host.Tenants are ignored.
	// Host.SweepEvery is the interval of the only sweeper, which covers all hosts of the Apps.
	Host host.Options
	// IndexBytes is the maximum size of the search indexes of collections in memory. IndexBytes has
	// no effect if Host.Index is set. Default: index.DefaultBytes.
	IndexBytes int64
	// SleepEvery is the interval between two searches for runs of sleep-time memory that are due.
	// Due runs then begin. If SleepEvery is negative, due runs do not begin automatically. Default:
	// 5 seconds.
	SleepEvery time.Duration
	// Observers returns additional observers for an app. Default: none.
	Observers func(app string) []host.Observer
	// FileURL returns the download URL of an uploaded file. Default: files have no URL.
	FileURL func(app, tenant string, file artifact.Artifact) string
	// OnRetired is called when a host is replaced or closed, while the host may still be in use.
	// When OnRetired is called, code that keeps the host in use for a long time should release the
	// host. Default: no call.
	OnRetired func(*host.Host)
	// Tenants is the maximum number of tenants with open hosts. Default: 10,000.
	Tenants int
	// Open is the maximum number of open hosts. If another host is needed, the least recently used
	// idle host is closed. If no host is idle, no host is closed. Default: 1,000.
	Open int
	// Idle is the time after which an unused host is closed. The next use reopens the host. If Idle
	// is negative, unused hosts stay open. Default: 1 hour.
	Idle time.Duration
	// OnIdle is called periodically with each host that is in use but has received no request for
	// the duration Idle. When OnIdle is called, code that keeps the host in use for a long time
	// should release the host. Default: no call.
	OnIdle func(*host.Host)
}

// Apps contains the apps that a service serves. Apps is safe for concurrent use.
type Apps struct {
	options Options
	index   *index.Set // nil if the options contain an index

	mu     sync.Mutex
	closed bool
	apps   map[string]*app.App
	hosts  map[hostKey]*openHost
	gone   sync.WaitGroup // waits for hosts that are closing
	// serving is a mutex that is locked while apps are replaced for all tenants. Opening or
	// changing the host of one tenant does not lock this mutex.
	serving sync.Mutex
	// working makes Close wait for other operations that may close hosts. These operations hold a
	// read lock, and Close holds the write lock.
	working  sync.RWMutex
	logger   *slog.Logger
	failures failureLog
	sweeper  sweeper
	sleeper  sleeper
	// sleepWatcher is nil before the first call of WatchSleep.
	sleepWatcher atomic.Pointer[SleepWatcher]
	// declaring contains a mutex for each host key. The mutex is locked while stores are declared
	// for that key.
	declaring  keyedMutex
	stop       chan struct{} // closed by Close
	background sync.WaitGroup
}

// hostKey identifies a host.
type hostKey struct{ tenant, app string }

// openHost contains a host and the number of uses of this host.
type openHost struct {
	app   *app.App      // declaration in the app file
	ready chan struct{} // closed when host or err is set
	host  *host.Host
	err   error
	uses  sync.WaitGroup
	// Apps.mu guards the following fields. used is the time at which the last use began or ended.
	inUse int
	used  time.Time
}

// New returns Apps that serve no app yet.
func New(opts Options) *Apps {
	setDefault(&opts.Tenants, 10_000)
	setDefault(&opts.Open, 1_000)
	setDefault(&opts.Idle, time.Hour)
	logger := opts.Host.Logger
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	var own *index.Set
	if opts.Host.Index == nil {
		own = index.New(opts.Host.Backend, index.Options{Bytes: opts.IndexBytes})
		opts.Host.Index = own
	}
	if opts.Host.SleepRounds == nil {
		opts.Host.SleepRounds = &host.SleepRounds{} // hosts are closed and opened again between runs
	}
	a := &Apps{
		index: own, options: opts, apps: map[string]*app.App{}, hosts: map[hostKey]*openHost{}, stop: make(chan struct{}), logger: logger,
		failures: failureLog{logger: logger},
	}
	a.sweeper = sweeper{options: opts.Host, apps: a.all, open: a.Host, logger: logger}
	if opts.Idle > 0 {
		a.background.Go(a.runIdleCloser)
	}
	a.background.Go(func() { a.sweeper.run(a.stop) })
	a.sleeper = sleeper{apps: a, places: newPlaces()}
	a.background.Go(func() { a.sleeper.run(a.stop) })
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

// The method "all" returns the declarations of the apps, sorted by their ids.
func (a *Apps) all() []*app.App {
	a.mu.Lock()
	defer a.mu.Unlock()
	var list []*app.App
	for _, id := range slices.Sorted(maps.Keys(a.apps)) {
		list = append(list, a.apps[id])
	}
	return list
}

// App returns the declaration of an app, without the stores that tenants declared.
func (a *Apps) App(id string) (*app.App, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	found, ok := a.apps[id]
	return found, ok
}

// Open returns the number of open hosts.
func (a *Apps) Open() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.hosts)
}

// IndexStats describes the search indexes of the collections of all apps.
func IndexStats(a *Apps) index.Stats { return a.options.Host.Index.Stats() }

// Usage returns a page of usage data. Usage includes apps that are not open or no longer served;
// see metering.List. If q.Tenant is "", runs of the last 30 seconds may be missing.
func (a *Apps) Usage(ctx context.Context, q metering.Query) (found []metering.Usage, next string, err error) {
	if q.Tenant != "" {
		for _, h := range a.openOf(q.Tenant) {
			_ = h.Meter().Flush() // Flush logs its errors; the usage is then outdated
		}
	}
	return metering.List(ctx, a.options.Host.Backend, q)
}

// openOf returns the open hosts of a tenant.
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

// Host returns the host of a tenant's app. Host opens the host on first use. Call release when the
// host is no longer needed.
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

// find returns the host of a key and counts a use. If the result "mine" is not nil, the caller must
// open the host with this declaration.
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
	if maximum := a.options.Tenants * len(a.apps); len(a.hosts) >= min(a.options.Open, maximum) && !a.closeOldest() && len(a.hosts) >= maximum {
		return nil, nil, abi.Faultf(abi.QuotaExceeded, "the service has reached its limit of %d tenants", a.options.Tenants)
	}
	o = &openHost{app: declared, ready: make(chan struct{})}
	o.use()
	a.hosts[at] = o
	return o, declared, nil
}

var errClosed = abi.Faultf(abi.Unavailable, "the service is closing").WithHint("retry in a moment")

// errNoApp returns the error for an unknown app. The caller holds mu.
func (a *Apps) errNoApp(id string) error {
	f := abi.Faultf(abi.NotFound, "the app %q does not exist", id)
	if near := spell.Name(id, slices.Sorted(maps.Keys(a.apps))); near != "" {
		return f.WithHint("did you mean %q?", near)
	}
	return f
}

// open opens a host with the stores that the tenant declared and the stores in the argument "more".
func (a *Apps) open(ctx context.Context, tenant string, declared *app.App, more []declare.Store) (*host.Host, error) {
	ctx = context.WithoutCancel(ctx) // other callers wait for the same host
	stores, err := memory.Declared(ctx, a.options.Host.Backend, tenant, declared.ID)
	if err != nil {
		return nil, fmt.Errorf("open the app %q: %w", declared.ID, err)
	}
	stores = append(slices.DeleteFunc(stores, func(s declare.Store) bool { return storeNamed(more, s.Name) != nil }), more...)
	merged := *declared
	merged.Stores = slices.Clone(declared.Stores)
	for _, s := range stores {
		var replaced, wasBlock bool
		merged.Stores, replaced = merge(merged.Stores, s)
		merged.Blocks, wasBlock = withoutBlock(merged.Blocks, s.Name)
		if replaced || wasBlock {
			a.logger.Warn("a tenant's older declaration overrides a store of the app file", "tenant", tenant, "store", s.Name)
		}
	}
	opts := a.options.Host
	opts.App, opts.Tenants, opts.SweepEvery = &merged, []string{tenant}, -1 // the sweeper of Apps covers all hosts
	if a.options.Observers != nil {
		opts.Observers = append(slices.Clone(opts.Observers), a.options.Observers(declared.ID)...)
	}
	if declared.Sleep != nil {
		opts.Observers = append(slices.Clone(opts.Observers), sleepObserver{apps: a})
	}
	if link := a.options.FileURL; link != nil {
		opts.FileURL = func(tenant string, file artifact.Artifact) string { return link(declared.ID, tenant, file) }
	}
	return host.Open(ctx, opts)
}

// merge adds a store that a tenant declared. If the app file also declares this store, the
// declaration in the app file normally wins. If the two declarations refer to different records,
// the tenant's declaration wins, because with the declaration of the app file, the app could not be
// opened, or stored records would be lost. The result "replaced" is true if the tenant's
// declaration won.
func merge(stores []declare.Store, s declare.Store) (all []declare.Store, replaced bool) {
	i := slices.IndexFunc(stores, func(other declare.Store) bool { return strings.EqualFold(other.Name, s.Name) })
	if i < 0 {
		return append(stores, s), false
	}
	if stores[i].Access != s.Access || stores[i].Name != s.Name || kindOf(stores[i]) != kindOf(s) {
		stores[i] = s
		return stores, true
	}
	return stores, false
}

// kindOf returns the kind of a store. If a declaration contains no kind, the result is
// declare.KindDocument.
func kindOf(s declare.Store) declare.Kind { return cmp.Or(s.Kind, declare.KindDocument) }

// withoutBlock removes the block that has the same name as a store that a tenant declared. The
// boolean result is true if a block was removed. The store takes precedence over the block for the
// same reason as in the function "merge".
func withoutBlock(blocks []declare.Block, name string) (rest []declare.Block, removed bool) {
	rest = slices.DeleteFunc(slices.Clone(blocks), func(b declare.Block) bool { return strings.EqualFold(b.Name, name) })
	return rest, len(rest) < len(blocks)
}

// openFault returns the error for an app that cannot be opened for a tenant. openFault omits
// details of the service.
func openFault(err error) error {
	if moved, ok := errors.AsType[*memory.ScopeChangedError](err); ok {
		return abi.Faultf(abi.Unavailable, "cannot open the app: %s has records with access %q", moved.What(), moved.Was).
			WithHint("restore the declaration in the app file, or rename the store")
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

// retire closes a host as soon as it is no longer in use.
func (a *Apps) retire(o *openHost) {
	a.gone.Go(func() {
		<-o.ready
		if o.host != nil && a.options.OnRetired != nil {
			a.options.OnRetired(o.host)
		}
		o.uses.Wait()
		if o.host != nil {
			_ = o.host.Close() // errors of the host's programs have already been reported
		}
	})
}

// Close closes all hosts after the runs in progress have ended. Uses after a call of Close fail
// with abi.Unavailable.
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
	if first && a.index != nil {
		a.index.Close()
	}
	return nil
}
