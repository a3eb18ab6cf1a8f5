package sandbox

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/toolrun/toolrun/host/engine"
)

// borrow returns a cell for a program: one to compile it in, or one that a run for a domain may use. It waits until
// there may be one more, at most until ctx ends.
func (p *Pool) borrow(ctx context.Context, program *program, domain *string) (*process, error) {
	if err := p.enter(ctx); err != nil {
		return nil, err
	}
	c, err := p.take(program, domain)
	if err == nil && c == nil {
		if c, err = p.startFor(ctx, program.outfit); err == errLeft {
			return nil, engine.EndOf(ctx) // the slot is given back when the cell is there
		}
	}
	if err == nil {
		err = p.use(c)
	}
	if err != nil {
		<-p.slots
		return nil, err
	}
	c.bind(program, domain)
	return c, nil
}

// startFor starts a cell for a run, which holds a slot. One that comes too late is ended.
func (p *Pool) startFor(ctx context.Context, o outfit) (*process, error) {
	if ctx.Done() == nil {
		return p.start(o, toRun)
	}
	type result struct {
		cell *process
		err  error
	}
	var left atomic.Bool
	started := make(chan result, 1)
	p.background.Go(func() {
		c, err := p.start(o, toRun)
		if !left.Swap(true) {
			started <- result{c, err}
			return
		}
		if err == nil {
			c.discard()
		}
		<-p.slots
	})
	select {
	case r := <-started:
		return r.cell, r.err
	case <-ctx.Done():
	}
	if left.Swap(true) {
		r := <-started
		return r.cell, r.err
	}
	return nil, errLeft
}

// enter waits until one more cell may be busy, at most until ctx ends.
func (p *Pool) enter(ctx context.Context) error {
	select {
	case p.slots <- struct{}{}:
		return nil
	case <-p.done:
		return errPoolClosed
	case <-ctx.Done():
		return engine.EndOf(ctx)
	}
}

// use notes that a cell is busy, so that Close finds it.
func (p *Pool) use(c *process) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		c.bury()
		return errPoolClosed
	}
	p.busy[c] = true
	return nil
}

// drop ends a cell that was busy.
func (p *Pool) drop(c *process) {
	p.mu.Lock()
	delete(p.busy, c)
	p.mu.Unlock()
	c.discard()
}

// gone buries a cell that has died while it waited, which is the system's doing, or somebody's. Nothing is lost: it had
// asked the host for nothing yet.
func (p *Pool) gone(c *process) error {
	state, words := c.bury()
	p.log.Warn("a cell died while it waited", "state", fmt.Sprint(state), "stderr", words)
	return errGone
}

// isClosed reports whether Close was called.
func (p *Pool) isClosed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

// take returns a cell that is there already, nil for none.
func (p *Pool) take(program *program, domain *string) (*process, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errPoolClosed
	}
	best := -1
	for i, c := range slices.Backward(p.idle) {
		if c.suits(program, domain) && (best < 0 || c.programs[program]) {
			if best = i; c.programs[program] {
				break
			}
		}
	}
	if best >= 0 {
		c := p.idle[best]
		p.idle = slices.Delete(p.idle, best, best+1)
		c.waited = true
		rested := c.rested()
		if rested && !c.old(p.options.Lifetime) {
			return c, nil
		}
		if !rested {
			p.log.Warn("a cell did not rest between two runs")
		}
		p.background.Go(c.discard)
	}
	for i, c := range slices.Backward(p.spares) {
		if c.outfit == program.outfit {
			p.spares = slices.Delete(p.spares, i, i+1)
			c.waited = true
			return c, nil
		}
	}
	return nil, nil
}

// restCPU is how much a cell may work while it waits: Go's garbage collector may have something left to do.
const restCPU = 200 * time.Millisecond

// rested reports whether a cell did nothing while it waited. What somebody left behind in it must not speak for the next
// run.
func (c *process) rested() bool {
	return c.wire.in.Buffered() == 0 && c.link.quiet() && cpuTime(c.process.Pid)-c.worked < restCPU
}

// isReady reports whether a cell waits that has compiled a program and may run it for a domain, or whether there is no
// room to get one ready.
func (p *Pool) isReady(program *program, domain string) bool {
	if len(p.slots) == cap(p.slots) {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.idle, func(c *process) bool { return c.programs[program] && c.suits(program, &domain) })
}

// suits reports whether a cell may be used: it has only been in the hands of the same domains.
func (c *process) suits(program *program, domain *string) bool {
	if c.outfit != program.outfit || c.loaded && c.source != program.source.Domain || len(c.programs) >= maxPrograms && !c.programs[program] {
		return false
	}
	return !c.entered || domain != nil && c.domain == *domain
}

// maxPrograms is how many programs a cell keeps.
const maxPrograms = 64

// bind makes a cell that of a domain.
func (c *process) bind(program *program, domain *string) {
	c.loaded, c.source = true, program.source.Domain
	if domain == nil {
		return
	}
	if !c.entered {
		c.entry = time.Now()
	}
	c.entered, c.domain = true, *domain
}

// release takes a cell back, which is kept for the next run if it can be.
func (p *Pool) release(c *process) {
	p.mu.Lock()
	delete(p.busy, c)
	c.worked = cpuTime(c.process.Pid)
	keep := !p.closed && c.alive() && c.runs < p.options.Runs && !c.old(p.options.Lifetime) && !c.stale()
	var over *process
	if keep {
		p.idle = append(p.idle, c)
		if len(p.idle) > p.options.Idle {
			over = p.idle[0]
			p.idle = slices.Delete(p.idle, 0, 1)
		}
	}
	p.refill()
	p.mu.Unlock()
	// To bury a cell takes milliseconds, which are not this run's to wait for.
	if over != nil {
		p.background.Go(over.discard)
	}
	if !keep {
		p.background.Go(c.discard)
	}
	<-p.slots
}

// old reports whether the first run of a cell was long ago.
func (c *process) old(lifetime time.Duration) bool {
	return c.entered && time.Since(c.entry) > lifetime
}

// stale reports whether a cell holds a program that was closed.
func (c *process) stale() bool {
	for program := range c.programs {
		if program.closed.Load() {
			return true
		}
	}
	return false
}

// forget ends the cells that wait and hold a program that was closed.
func (p *Pool) forget(program *program) {
	p.end(func(c *process) bool { return c.programs[program] })
}

// end ends the cells that wait and are like that.
func (p *Pool) end(like func(*process) bool) {
	p.mu.Lock()
	var ended []*process
	take := func(c *process) bool {
		if like(c) {
			ended = append(ended, c)
			return true
		}
		return false
	}
	p.idle, p.spares = slices.DeleteFunc(p.idle, take), slices.DeleteFunc(p.spares, take)
	p.mu.Unlock()
	for _, c := range ended {
		c.discard()
	}
}
