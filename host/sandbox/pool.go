package sandbox

import (
	"errors"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
)

// A Pool keeps workers. The engines of a Pool run guests in the workers. A Pool is safe for
// concurrent use.
type Pool struct {
	options  Options
	log      *slog.Logger
	engines  []engine.Engine
	readable []string // workers can read source files with these extensions
	spawner  *spawner
	programs atomic.Uint64 // the ID that the last program received
	slots    chan struct{} // a semaphore with one slot for each concurrent guest
	done     chan struct{} // closed by Close

	background sync.WaitGroup // counts goroutines that start or reap workers; Add needs a slot

	mu           sync.Mutex
	closed       bool
	idle         []*worker      // used workers; the most recently used worker is the last
	spares       []*worker      // workers that have not yet run a guest
	starting     map[mounts]int // the number of spares whose start is in progress
	spareMounts  []mounts       // mounts of the spares; independent of a domain
	busy         map[*worker]bool
	temporary    string // the code cache without Options.CacheDir; "" before its first use
	namespaceErr error  // the reason why workers have no namespaces
	namespaces   bool   // whether an earlier worker had namespaces
	reported     *Report
}

// New creates a Pool. If Options.Require is empty, New starts no worker. If a required layer is
// missing, New fails.
func New(options Options) (*Pool, error) {
	if err := options.check(); err != nil {
		return nil, err
	}
	p := &Pool{options: options.withDefaults(), busy: map[*worker]bool{}, starting: map[mounts]int{}, spareMounts: []mounts{{}}}
	p.log, p.slots, p.spawner = p.options.Logger, make(chan struct{}, p.options.Workers), newSpawner()
	p.done = make(chan struct{})
	for _, l := range p.options.Languages {
		info := l.New(Setup{Panicked: func(any, []byte) {}}).Info()
		p.engines = append(p.engines, &proxy{pool: p, language: l, info: info})
	}
	p.readable = engine.Readable(engine.Infos(p.engines))
	if len(options.Require) == 0 {
		return p, nil
	}
	if _, err := p.Report(); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// Engines returns one engine for each language. The order is the order of Options.Languages.
func (p *Pool) Engines() []engine.Engine { return p.engines }

// Report returns the state of the workers' isolation layers. If no worker has been started yet,
// Report starts a worker.
func (p *Pool) Report() (Report, error) {
	p.mu.Lock()
	known := p.reported
	p.mu.Unlock()
	if known != nil {
		return *known, nil
	}
	w, err := p.start(mounts{}, jobRun)
	if err != nil {
		return Report{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		w.reap()
		return w.report, nil
	}
	p.spares = append(p.spares, w)
	return w.report, nil
}

// errPoolClosed is the error of a run that starts after Close or that Close cancels.
var errPoolClosed = unavailable("the worker pool is closed")

// refill starts spares until their number is correct. The caller must hold the lock "mu".
func (p *Pool) refill() {
	for _, o := range p.spareMounts {
		for !p.closed && p.sparesOf(o)+p.starting[o] < p.options.Spares {
			p.startSpare(o)
		}
	}
}

// keepSpares makes the pool keep spares with the given mounts. The mounts must not depend on a
// domain.
func (p *Pool) keepSpares(o mounts) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.Contains(p.spareMounts, o) {
		p.spareMounts = append(p.spareMounts, o)
	}
}

// forgetSpares stops the idle and spare workers that have the given mounts. After the call, the
// pool keeps no spares with the given mounts.
func (p *Pool) forgetSpares(o mounts) {
	p.mu.Lock()
	p.spareMounts = slices.DeleteFunc(p.spareMounts, func(other mounts) bool { return other == o })
	p.mu.Unlock()
	p.stopWaiting(func(w *worker) bool { return w.mounts == o })
}

// sparesOf returns the number of spares that have the given mounts. The caller holds mu.
func (p *Pool) sparesOf(o mounts) (n int) {
	for _, w := range p.spares {
		if w.mounts == o {
			n++
		}
	}
	return n
}

// startSpare starts a spare. The caller holds mu.
func (p *Pool) startSpare(o mounts) {
	p.starting[o]++
	p.background.Go(func() {
		w, err := p.start(o, jobRun)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.starting[o]--
		switch {
		case err != nil:
			p.log.Error("cannot start a spare worker", "error", err) // the next run tries again
		case p.closed || !slices.Contains(p.spareMounts, o):
			w.stop()
		default:
			p.spares = append(p.spares, w)
		}
	})
}

// start starts a worker. If the system denies namespaces, the worker runs without them. The report
// of the worker then contains the reason.
func (p *Pool) start(o mounts, job uint64, files ...string) (*worker, error) {
	set := p.spawnConfig()
	command, argument0 := p.command()
	w, err := (*worker)(nil), error(nil)
	ran := p.spawner.do(func() {
		w, err = spawn(command, argument0, set, p.options.Without)
		for err != nil && isDenied(err) && set.degrade(err) {
			w, err = spawn(command, argument0, set, p.options.Without)
		}
	})
	if w == nil {
		set.group.remove()
	}
	if !ran {
		return nil, errPoolClosed
	}
	if err != nil {
		return nil, hostFault(p.log, err)
	}
	h := newHandshake()
	h.without, h.mounts, h.job, h.files = p.options.Without, o, job, files
	h.namespaces = set.namespaces
	if err := w.handshake(h); err != nil {
		_, stderr := w.reap()
		return nil, hostFault(p.log, errors.Join(err, errors.New(stderr)))
	}
	w.mounts = o
	w.addParentLayers(set, p.options.Without)
	if err := w.report.missing(p.options.Require); err != nil { // workers can differ
		w.reap()
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reported, p.namespaces = &w.report, p.namespaces || w.report.On(LayerNamespaces)
	if !p.namespaces { // an earlier worker had namespaces, so the failure is temporary
		p.namespaceErr = set.namespaceErr
	}
	return w, nil
}

// The type spawnConfig describes how the parent isolates a new worker.
type spawnConfig struct {
	namespaces   bool  // whether the worker has its own namespaces
	namespaceErr error // why the worker has no namespaces
	chroot       bool  // whether the worker can change its root in its namespaces
	group        *group
	groupErr     error // why the worker has no control group
}

// The method spawnConfig returns the configuration for the next worker.
func (p *Pool) spawnConfig() spawnConfig {
	p.mu.Lock()
	s := spawnConfig{namespaceErr: p.namespaceErr}
	p.mu.Unlock()
	disabled := func(layer string) bool { return slices.Contains(p.options.Without, layer) }
	if disabled(LayerNamespaces) {
		s.namespaceErr = errDisabled
	}
	s.namespaces, s.chroot = s.namespaceErr == nil, !disabled(LayerChroot)
	if disabled(LayerCgroup) {
		s.groupErr = errDisabled
		return s
	}
	all, err := newGroups()
	if err == nil {
		s.group, err = all.newGroup()
	}
	s.groupErr = err
	return s
}

// degrade turns off the next feature of the configuration that the system can deny. If no such
// feature is left, degrade returns false. The control group is turned off first, because the
// control group adds the least protection.
func (s *spawnConfig) degrade(err error) bool {
	switch {
	case s.group != nil:
		s.group.remove()
		s.group, s.groupErr = nil, err
	case s.namespaces && s.chroot:
		s.chroot = false
	case s.namespaces:
		s.namespaces, s.namespaceErr = false, err
	default:
		return false
	}
	return true
}

// hostFault logs err and returns the fault for a run that could not get a worker.
func hostFault(log *slog.Logger, err error) error {
	log.Error("cannot start a worker", "error", err)
	return unavailable("cannot start a process for the tool; see the host's log")
}

func unavailable(text string) error {
	return &engine.NotStartedError{Fault: abi.Faultf(abi.Unavailable, "%s", text)}
}

// command returns the path of the program for workers and its first argument.
func (p *Pool) command() (path, argument0 string) {
	if p.options.Command != "" {
		return p.options.Command, p.options.Command
	}
	return self(), os.Args[0]
}

// Close cancels active runs and stops all workers. Repeated calls of Close are allowed.
func (p *Pool) Close() error {
	p.mu.Lock()
	first := !p.closed
	if first {
		p.closed = true
		close(p.done)
	}
	ended := slices.Concat(p.idle, p.spares)
	p.idle, p.spares = nil, nil
	for w := range p.busy {
		w.kill() // the goroutine that uses the worker reaps it
	}
	p.mu.Unlock()
	for _, w := range ended {
		w.stop()
	}
	if first {
		for range cap(p.slots) { // waits until all runs have released their workers
			p.slots <- struct{}{}
		}
		p.background.Wait()
		if p.temporary != "" {
			_ = os.RemoveAll(p.temporary) // the system removes files that remain
		}
		p.spawner.close()
	}
	return nil
}
