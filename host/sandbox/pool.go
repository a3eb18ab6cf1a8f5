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

// Pool keeps workers, and has engines that run guests in them. It is safe for concurrent use.
type Pool struct {
	options  Options
	log      *slog.Logger
	engines  []engine.Engine
	readable []string // the extensions of the files that workers read
	spawner  *spawner
	programs atomic.Uint64 // the id of the last program
	slots    chan struct{} // one for each guest that may run
	done     chan struct{} // closed when the pool is

	background sync.WaitGroup // workers that are being started, or buried; it is done while a slot is held

	mu           sync.Mutex
	closed       bool
	idle         []*worker      // that ran, the last one used last
	spares       []*worker      // that no guest was in
	starting     map[mounts]int // spares that are being started
	spareMounts  []mounts       // that spares are kept of: those that any domain may have
	busy         map[*worker]bool
	temporary    string // the folder of compiled code where none is named, "" until it is needed
	namespaceErr error  // why workers have no namespaces of their own
	namespaces   bool   // a worker has had some
	reported     *Report
}

// New makes a Pool. It starts no worker yet, unless Options.Require asks for layers: then it starts one, and refuses
// where a layer is missing.
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

// Engines returns an engine for each language, in their order.
func (p *Pool) Engines() []engine.Engine { return p.engines }

// Report says which layers the wall has. It starts a worker if none was started yet.
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

// errPoolClosed answers runs that come too late.
var errPoolClosed = unavailable("the workers that run tools are closed")

// refill starts the spares that are missing. The caller holds mu.
func (p *Pool) refill() {
	for _, o := range p.spareMounts {
		for !p.closed && p.sparesOf(o)+p.starting[o] < p.options.Spares {
			p.startSpare(o)
		}
	}
}

// keepSpares has spares kept of an outfit that any domain may have.
func (p *Pool) keepSpares(o mounts) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.Contains(p.spareMounts, o) {
		p.spareMounts = append(p.spareMounts, o)
	}
}

// forgetSpares ends the workers that wait with an outfit, of which no more are kept.
func (p *Pool) forgetSpares(o mounts) {
	p.mu.Lock()
	p.spareMounts = slices.DeleteFunc(p.spareMounts, func(other mounts) bool { return other == o })
	p.mu.Unlock()
	p.stopWaiting(func(w *worker) bool { return w.mounts == o })
}

// sparesOf counts the spares with an outfit. The caller holds mu.
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
			p.log.Error("a spare worker does not start", "error", err) // a run that needs one tries again
		case p.closed || !slices.Contains(p.spareMounts, o):
			w.stop()
		default:
			p.spares = append(p.spares, w)
		}
	})
}

// start starts a worker. Where the system refuses namespaces it does without, and says so in the report.
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
	if err := w.report.missing(p.options.Require); err != nil { // of this worker, whatever the ones before had
		w.reap()
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reported, p.namespaces = &w.report, p.namespaces || w.report.On(LayerNamespaces)
	if !p.namespaces { // where there were some before, it was for the moment
		p.namespaceErr = set.namespaceErr
	}
	return w, nil
}

// setting is what the system gives to a new worker.
type spawnConfig struct {
	namespaces   bool  // it has namespaces of its own
	namespaceErr error // why not
	chroot       bool  // it has there what changing its root takes
	group        *group
	groupErr     error // why it has no control group
}

// setting is what a new worker is to have.
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

// less takes from a setting what the system may have refused, and reports whether there was any: first the control group,
// which the report misses least.
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

// hostFault is what a run ends with that gets no worker: the details are for the host's log.
func hostFault(log *slog.Logger, err error) error {
	log.Error("a worker does not start", "error", err)
	return unavailable("the process that would run the tool does not start; the host's log has the details")
}

func unavailable(text string) error {
	return &engine.NotRun{Fault: abi.Faultf(abi.Unavailable, "%s", text)}
}

// command is the program that workers run, and what it is told of its name.
func (p *Pool) command() (path, argument0 string) {
	if p.options.Command != "" {
		return p.options.Command, p.options.Command
	}
	return self(), os.Args[0]
}

// Close ends all workers; runs under way end as cancelled. Closing twice is fine.
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
		w.kill() // whoever uses it buries it
	}
	p.mu.Unlock()
	for _, w := range ended {
		w.stop()
	}
	if first {
		for range cap(p.slots) { // until every run has given back its worker
			p.slots <- struct{}{}
		}
		p.background.Wait()
		if p.temporary != "" {
			_ = os.RemoveAll(p.temporary) // what is left is the system's to clear
		}
		p.spawner.close()
	}
	return nil
}
