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

// Pool keeps cells, and has engines that run guests in them. It is safe for concurrent use.
type Pool struct {
	options  Options
	log      *slog.Logger
	engines  []engine.Engine
	readable []string // the extensions of the files that workers read
	thread   *thread
	programs atomic.Uint64 // the id of the last program
	slots    chan struct{} // one for each guest that may run
	done     chan struct{} // closed when the pool is

	background sync.WaitGroup // cells that are being started, or buried; it is done while a slot is held

	mu         sync.Mutex
	closed     bool
	idle       []*process     // that ran, the last one used last
	spares     []*process     // that no guest was in
	coming     map[outfit]int // spares that are being started
	outfits    []outfit       // that spares are kept of: those that any domain may have
	busy       map[*process]bool
	temporary  string // the folder of compiled code where none is named, "" until it is needed
	refused    error  // why cells have no namespaces of their own
	namespaces bool   // a cell has had some
	reported   *Report
}

// New makes a Pool. It starts no cell yet, unless Options.Require asks for layers: then it starts one, and refuses
// where a layer is missing.
func New(options Options) (*Pool, error) {
	if err := options.check(); err != nil {
		return nil, err
	}
	p := &Pool{options: options.withDefaults(), busy: map[*process]bool{}, coming: map[outfit]int{}, outfits: []outfit{{}}}
	p.log, p.slots, p.thread = p.options.Logger, make(chan struct{}, p.options.Workers), newThread()
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

// Report says which layers the wall has. It starts a cell if none was started yet.
func (p *Pool) Report() (Report, error) {
	p.mu.Lock()
	known := p.reported
	p.mu.Unlock()
	if known != nil {
		return *known, nil
	}
	c, err := p.start(outfit{}, toRun)
	if err != nil {
		return Report{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		c.bury()
		return c.report, nil
	}
	p.spares = append(p.spares, c)
	return c.report, nil
}

// errPoolClosed answers runs that come too late.
var errPoolClosed = unavailable("the cells that run tools are closed")

// refill starts the spares that are missing. The caller holds mu.
func (p *Pool) refill() {
	for _, o := range p.outfits {
		for !p.closed && p.sparesOf(o)+p.coming[o] < p.options.Spares {
			p.startSpare(o)
		}
	}
}

// keepSpares has spares kept of an outfit that any domain may have.
func (p *Pool) keepSpares(o outfit) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.Contains(p.outfits, o) {
		p.outfits = append(p.outfits, o)
	}
}

// forgetSpares ends the cells that wait with an outfit, of which no more are kept.
func (p *Pool) forgetSpares(o outfit) {
	p.mu.Lock()
	p.outfits = slices.DeleteFunc(p.outfits, func(other outfit) bool { return other == o })
	p.mu.Unlock()
	p.end(func(c *process) bool { return c.outfit == o })
}

// sparesOf counts the spares with an outfit. The caller holds mu.
func (p *Pool) sparesOf(o outfit) (n int) {
	for _, c := range p.spares {
		if c.outfit == o {
			n++
		}
	}
	return n
}

// startSpare starts a spare. The caller holds mu.
func (p *Pool) startSpare(o outfit) {
	p.coming[o]++
	p.background.Go(func() {
		c, err := p.start(o, toRun)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.coming[o]--
		switch {
		case err != nil:
			p.log.Error("a spare cell does not start", "error", err) // a run that needs one tries again
		case p.closed || !slices.Contains(p.outfits, o):
			c.discard()
		default:
			p.spares = append(p.spares, c)
		}
	})
}

// start starts a cell. Where the system refuses namespaces it does without, and says so in the report.
func (p *Pool) start(o outfit, purpose uint64, files ...string) (*process, error) {
	set := p.setting()
	command, argument0 := p.command()
	c, err := (*process)(nil), error(nil)
	ran := p.thread.do(func() {
		c, err = spawn(command, argument0, set, p.options.Without)
		for err != nil && notAllowed(err) && set.less(err) {
			c, err = spawn(command, argument0, set, p.options.Without)
		}
	})
	if c == nil {
		set.group.remove()
	}
	if !ran {
		return nil, errPoolClosed
	}
	if err != nil {
		return nil, hostFault(p.log, err)
	}
	h := newHello()
	h.without, h.outfit, h.purpose, h.files = p.options.Without, o, purpose, files
	h.namespaces = set.namespaces
	if err := c.greet(h); err != nil {
		_, words := c.bury()
		return nil, hostFault(p.log, errors.Join(err, errors.New(words)))
	}
	c.outfit = o
	c.complete(set, p.options.Without)
	if err := c.report.missing(p.options.Require); err != nil { // of this cell, whatever the ones before had
		c.bury()
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reported, p.namespaces = &c.report, p.namespaces || c.report.On(LayerNamespaces)
	if !p.namespaces { // where there were some before, it was for the moment
		p.refused = set.refused
	}
	return c, nil
}

// setting is what the system gives to a new cell.
type setting struct {
	namespaces bool  // it has namespaces of its own
	refused    error // why not
	chroot     bool  // it has there what changing its root takes
	group      *group
	ungrouped  error // why it has no control group
}

// setting is what a new cell is to have.
func (p *Pool) setting() setting {
	p.mu.Lock()
	s := setting{refused: p.refused}
	p.mu.Unlock()
	leaves := func(layer string) bool { return slices.Contains(p.options.Without, layer) }
	if leaves(LayerNamespaces) {
		s.refused = errLeftOut
	}
	s.namespaces, s.chroot = s.refused == nil, !leaves(LayerChroot)
	if leaves(LayerCgroup) {
		s.ungrouped = errLeftOut
		return s
	}
	all, err := newGroups()
	if err == nil {
		s.group, err = all.make()
	}
	s.ungrouped = err
	return s
}

// less takes from a setting what the system may have refused, and reports whether there was any: first the control group,
// which the report misses least.
func (s *setting) less(err error) bool {
	switch {
	case s.group != nil:
		s.group.remove()
		s.group, s.ungrouped = nil, err
	case s.namespaces && s.chroot:
		s.chroot = false
	case s.namespaces:
		s.namespaces, s.refused = false, err
	default:
		return false
	}
	return true
}

// hostFault is what a run ends with that gets no cell: the details are for the host's log.
func hostFault(log *slog.Logger, err error) error {
	log.Error("a cell does not start", "error", err)
	return unavailable("the process that would run the tool does not start; the host's log has the details")
}

func unavailable(text string) error {
	return &engine.NotRun{Fault: abi.Faultf(abi.Unavailable, "%s", text)}
}

// command is the program that cells run, and what it is told of its name.
func (p *Pool) command() (path, argument0 string) {
	if p.options.Command != "" {
		return p.options.Command, p.options.Command
	}
	return self(), os.Args[0]
}

// Close ends all cells; runs under way end as cancelled. Closing twice is fine.
func (p *Pool) Close() error {
	p.mu.Lock()
	first := !p.closed
	if first {
		p.closed = true
		close(p.done)
	}
	ended := slices.Concat(p.idle, p.spares)
	p.idle, p.spares = nil, nil
	for c := range p.busy {
		c.kill() // whoever uses it buries it
	}
	p.mu.Unlock()
	for _, c := range ended {
		c.discard()
	}
	if first {
		for range cap(p.slots) { // until every run has given back its cell
			p.slots <- struct{}{}
		}
		p.background.Wait()
		if p.temporary != "" {
			_ = os.RemoveAll(p.temporary) // what is left is the system's to clear
		}
		p.thread.close()
	}
	return nil
}
