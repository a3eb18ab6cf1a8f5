package sandbox

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/toolrun/toolrun/host/engine"
)

// borrow returns a worker for a program: one to compile it in, or one that a run for a domain may use. It waits until
// there may be one more, at most until ctx ends.
func (p *Pool) acquire(ctx context.Context, program *program, domain *string) (*worker, error) {
	if err := p.acquireSlot(ctx); err != nil {
		return nil, err
	}
	w, err := p.takeReady(program, domain)
	if err == nil && w == nil {
		if w, err = p.startFor(ctx, program.mounts); err == errDetached {
			return nil, engine.EndOf(ctx) // the slot is given back when the worker is there
		}
	}
	if err == nil {
		err = p.markBusy(w)
	}
	if err != nil {
		<-p.slots
		return nil, err
	}
	w.assign(program, domain)
	return w, nil
}

// startFor starts a worker for a run, which holds a slot. One that comes too late is ended.
func (p *Pool) startFor(ctx context.Context, o mounts) (*worker, error) {
	if ctx.Done() == nil {
		return p.start(o, jobRun)
	}
	type result struct {
		worker *worker
		err    error
	}
	var detached atomic.Bool
	started := make(chan result, 1)
	p.background.Go(func() {
		w, err := p.start(o, jobRun)
		if !detached.Swap(true) {
			started <- result{w, err}
			return
		}
		if err == nil {
			w.stop()
		}
		<-p.slots
	})
	select {
	case r := <-started:
		return r.worker, r.err
	case <-ctx.Done():
	}
	if detached.Swap(true) {
		r := <-started
		return r.worker, r.err
	}
	return nil, errDetached
}

// enter waits until one more worker may be busy, at most until ctx ends.
func (p *Pool) acquireSlot(ctx context.Context) error {
	select {
	case p.slots <- struct{}{}:
		return nil
	case <-p.done:
		return errPoolClosed
	case <-ctx.Done():
		return engine.EndOf(ctx)
	}
}

// use notes that a worker is busy, so that Close finds it.
func (p *Pool) markBusy(w *worker) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		w.reap()
		return errPoolClosed
	}
	p.busy[w] = true
	return nil
}

// drop ends a worker that was busy.
func (p *Pool) stopBusy(w *worker) {
	p.mu.Lock()
	delete(p.busy, w)
	p.mu.Unlock()
	w.stop()
}

// gone buries a worker that has died while it waited, which is the system's doing, or somebody's. Nothing is lost: it had
// asked the host for nothing yet.
func (p *Pool) workerDied(w *worker) error {
	state, stderr := w.reap()
	p.log.Warn("a worker died while it waited", "state", fmt.Sprint(state), "stderr", stderr)
	return errWorkerDied
}

// isClosed reports whether Close was called.
func (p *Pool) isClosed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

// take returns a worker that is there already, nil for none.
func (p *Pool) takeReady(program *program, domain *string) (*worker, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errPoolClosed
	}
	best := -1
	for i, w := range slices.Backward(p.idle) {
		if w.compatible(program, domain) && (best < 0 || w.programs[program]) {
			if best = i; w.programs[program] {
				break
			}
		}
	}
	if best >= 0 {
		w := p.idle[best]
		p.idle = slices.Delete(p.idle, best, best+1)
		w.unproven = true
		quiescent := w.quiescent()
		if quiescent && !w.expired(p.options.Lifetime) {
			return w, nil
		}
		if !quiescent {
			p.log.Warn("a worker did not rest between two runs")
		}
		p.background.Go(w.stop)
	}
	for i, w := range slices.Backward(p.spares) {
		if w.mounts == program.mounts {
			p.spares = slices.Delete(p.spares, i, i+1)
			w.unproven = true
			return w, nil
		}
	}
	return nil, nil
}

// restCPU is how much a worker may work while it waits: Go's garbage collector may have something left to do.
const maxIdleCPU = 200 * time.Millisecond

// rested reports whether a worker did nothing while it waited. What somebody left behind in it must not speak for the next
// run.
func (w *worker) quiescent() bool {
	return w.wire.in.Buffered() == 0 && w.pipe.empty() && cpuTime(w.process.Pid)-w.cpuAtRelease < maxIdleCPU
}

// isReady reports whether a worker waits that has compiled a program and may run it for a domain, or whether there is no
// room to get one ready.
func (p *Pool) isReady(program *program, domain string) bool {
	if len(p.slots) == cap(p.slots) {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.idle, func(w *worker) bool { return w.programs[program] && w.compatible(program, &domain) })
}

// suits reports whether a worker may be used: it has only been in the hands of the same domains.
func (w *worker) compatible(program *program, domain *string) bool {
	if w.mounts != program.mounts || w.loaded && w.sourceDomain != program.source.Domain || len(w.programs) >= maxPrograms && !w.programs[program] {
		return false
	}
	return !w.used || domain != nil && w.runDomain == *domain
}

// maxPrograms is how many programs a worker keeps.
const maxPrograms = 64

// bind makes a worker that of a domain.
func (w *worker) assign(program *program, domain *string) {
	w.loaded, w.sourceDomain = true, program.source.Domain
	if domain == nil {
		return
	}
	if !w.used {
		w.firstRun = time.Now()
	}
	w.used, w.runDomain = true, *domain
}

// release takes a worker back, which is kept for the next run if it can be.
func (p *Pool) release(w *worker) {
	p.mu.Lock()
	delete(p.busy, w)
	w.cpuAtRelease = cpuTime(w.process.Pid)
	keep := !p.closed && w.alive() && w.runs < p.options.Runs && !w.expired(p.options.Lifetime) && !w.stale()
	var over *worker
	if keep {
		p.idle = append(p.idle, w)
		if len(p.idle) > p.options.Idle {
			over = p.idle[0]
			p.idle = slices.Delete(p.idle, 0, 1)
		}
	}
	p.refill()
	p.mu.Unlock()
	// To bury a worker takes milliseconds, which are not this run's to wait for.
	if over != nil {
		p.background.Go(over.stop)
	}
	if !keep {
		p.background.Go(w.stop)
	}
	<-p.slots
}

// old reports whether the first run of a worker was long ago.
func (w *worker) expired(lifetime time.Duration) bool {
	return w.used && time.Since(w.firstRun) > lifetime
}

// stale reports whether a worker holds a program that was closed.
func (w *worker) stale() bool {
	for program := range w.programs {
		if program.closed.Load() {
			return true
		}
	}
	return false
}

// forget ends the workers that wait and hold a program that was closed.
func (p *Pool) stopWaitingFor(program *program) {
	p.stopWaiting(func(w *worker) bool { return w.programs[program] })
}

// end ends the workers that wait and are like that.
func (p *Pool) stopWaiting(match func(*worker) bool) {
	p.mu.Lock()
	var ended []*worker
	take := func(w *worker) bool {
		if match(w) {
			ended = append(ended, w)
			return true
		}
		return false
	}
	p.idle, p.spares = slices.DeleteFunc(p.idle, take), slices.DeleteFunc(p.spares, take)
	p.mu.Unlock()
	for _, w := range ended {
		w.stop()
	}
}
