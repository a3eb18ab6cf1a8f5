package sandbox

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/toolrun/toolrun/host/engine"
)

// acquire returns a worker that can compile the program. If the domain is not nil, the worker can
// also run the program for this domain. If no slot is free, the method waits for a slot until ctx
// ends.
func (p *Pool) acquire(ctx context.Context, program *program, domain *string) (*worker, error) {
	if err := p.acquireSlot(ctx); err != nil {
		return nil, err
	}
	w, err := p.takeReady(program, domain)
	if err == nil && w == nil {
		if w, err = p.startFor(ctx, program.mounts); err == errDetached {
			return nil, engine.FaultFromContext(ctx) // startFor releases the slot after the start
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

// startFor starts a worker for a run. The run already owns a slot. If ctx ends before the worker
// has started, startFor stops the worker as soon as possible.
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

// acquireSlot waits for a slot until ctx ends.
func (p *Pool) acquireSlot(ctx context.Context) error {
	select {
	case p.slots <- struct{}{}:
		return nil
	case <-p.done:
		return errPoolClosed
	case <-ctx.Done():
		return engine.FaultFromContext(ctx)
	}
}

// markBusy registers a worker as busy. Close can then kill the worker.
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

// stopBusy stops a worker that is busy.
func (p *Pool) stopBusy(w *worker) {
	p.mu.Lock()
	delete(p.busy, w)
	p.mu.Unlock()
	w.stop()
}

// workerDied reaps an idle worker that the system or a user has killed. The run can be retried,
// because the worker has not called the host for the run.
func (p *Pool) workerDied(w *worker) error {
	state, stderr := w.reap()
	p.log.Warn("an idle worker died", "state", fmt.Sprint(state), "stderr", stderr)
	return errWorkerDied
}

// isClosed reports whether Close was called.
func (p *Pool) isClosed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

// takeReady returns an idle or spare worker. If no suitable worker exists, takeReady returns nil.
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
			p.log.Warn("a worker was active between two runs")
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

// maxIdleCPU limits the processor time that an idle worker may use. The limit is not zero, because
// Go's garbage collector can be active after a run.
const maxIdleCPU = 200 * time.Millisecond

// quiescent reports whether a worker was inactive while it was idle. If a worker is still active
// after a run, the worker is not reused. Code of the previous guest could still be active in such a
// worker. Code of the previous guest could send a result for the next run.
func (w *worker) quiescent() bool {
	return w.wire.in.Buffered() == 0 && w.pipe.empty() && cpuTime(w.process.Pid)-w.cpuAtRelease < maxIdleCPU
}

// isReady reports whether an idle worker can run the program for the domain without further
// preparation. If all slots are in use, isReady returns true, because the pool cannot prepare a
// worker without a free slot.
func (p *Pool) isReady(program *program, domain string) bool {
	if len(p.slots) == cap(p.slots) {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.idle, func(w *worker) bool { return w.programs[program] && w.compatible(program, &domain) })
}

// compatible reports whether a worker can run the program. The worker must have run only code of
// the program's domain, and its mounts must be the mounts of the program.
func (w *worker) compatible(program *program, domain *string) bool {
	if w.mounts != program.mounts || w.loaded && w.sourceDomain != program.source.Domain || len(w.programs) >= maxPrograms && !w.programs[program] {
		return false
	}
	return !w.used || domain != nil && w.runDomain == *domain
}

// maxPrograms is the maximum number of programs that one worker keeps.
const maxPrograms = 64

// assign binds a worker to two domains: the domain of the source, and the domain of the run.
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

// release returns a worker to the pool after a run. If possible, the pool keeps the worker for a
// later run.
func (p *Pool) release(w *worker) {
	p.mu.Lock()
	delete(p.busy, w)
	w.cpuAtRelease = cpuTime(w.process.Pid)
	slotless := w.slotless
	w.slotless = false
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
	// Reaping a worker takes milliseconds. Therefore the pool does not let the run wait until the
	// worker has been reaped.
	if over != nil {
		p.background.Go(over.stop)
	}
	if !keep {
		p.background.Go(w.stop)
	}
	if !slotless {
		<-p.slots
	}
}

// expired reports whether a worker has exceeded its lifetime.
func (w *worker) expired(lifetime time.Duration) bool {
	return w.used && time.Since(w.firstRun) > lifetime
}

// stale reports whether a worker still contains a program that was closed.
func (w *worker) stale() bool {
	for program := range w.programs {
		if program.closed.Load() {
			return true
		}
	}
	return false
}

// stopWaitingFor stops all idle and spare workers that contain a given closed program.
func (p *Pool) stopWaitingFor(program *program) {
	p.stopWaiting(func(w *worker) bool { return w.programs[program] })
}

// stopWaiting stops all idle and spare workers for which the function "match" returns true.
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
