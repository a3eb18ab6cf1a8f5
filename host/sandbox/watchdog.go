package sandbox

import (
	"context"
	"sync"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
)

// grace is how long a worker may take to end a run itself that is over its deadline. One that does so can be used
// again.
const grace = 50 * time.Millisecond

// guard kills a worker whose run goes on for too long. Its methods may be called by any goroutine.
type watchdog struct {
	ctx    context.Context
	worker *worker
	stop   func() bool // of what waits for ctx

	mu         sync.Mutex
	finished   bool // the exchange has ended
	reason     error
	cpuUsed    time.Duration // of processor time, until the worker was killed
	graceTimer *time.Timer   // at the end of the grace
	checkTimer *time.Timer   // when the worker is looked at next
	doing      string        // for a text
	cpuBefore  time.Duration
	limits     budget
}

// allowance is what a worker may use in an exchange.
type budget struct {
	cpu    time.Duration // 0 for as much as it takes
	memory int64         // beyond what the worker had before, in bytes
	writes *writeLimit   // what it may write; nil where it writes nothing
}

// The times between two looks at a worker. Most runs are over before the first.
const (
	firstCheck    = 20 * time.Millisecond
	checkInterval = 50 * time.Millisecond
)

// watch begins to guard an exchange with a worker.
func startWatchdog(ctx context.Context, w *worker, doing string, limits budget) *watchdog {
	g := &watchdog{ctx: ctx, worker: w, doing: doing, limits: limits, cpuBefore: cpuTime(w.process.Pid)}
	if ctx.Done() != nil {
		g.stop = context.AfterFunc(ctx, g.contextDone)
	}
	g.mu.Lock()
	g.checkTimer = time.AfterFunc(firstCheck, g.check)
	g.mu.Unlock()
	return g
}

// expired gives a run that ran out of time its grace. Nobody waits for one that was cancelled.
func (g *watchdog) contextDone() {
	if g.ctx.Err() == context.DeadlineExceeded {
		g.startGrace()
		return
	}
	g.end(engine.EndOf(g.ctx))
}

// hurry kills the worker unless the exchange ends soon.
func (g *watchdog) startGrace() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.finished && g.graceTimer == nil {
		g.graceTimer = time.AfterFunc(grace, func() { g.end(nil) })
	}
}

// end kills the worker; reason is why, where that is not the end of the context.
func (g *watchdog) end(reason error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if reason == nil {
		reason = engine.EndOf(g.ctx)
	}
	g.kill(reason)
}

// kill kills the worker unless the exchange is over, or it was killed before. The caller holds mu.
func (g *watchdog) kill(reason error) {
	if !g.finished && g.reason == nil {
		g.reason, g.cpuUsed = reason, g.used()
		g.worker.kill()
	}
}

// look ends an exchange that used what it may, or looks again.
func (g *watchdog) check() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.finished { // the worker may be another exchange's by now
		return
	}
	if err := g.exceeded(); err != nil {
		g.kill(err)
		return
	}
	wait := checkInterval
	if cpu := g.limits.cpu; cpu > 0 {
		// No more processors than these work for a worker: before that the limit cannot be reached.
		wait = min(wait, max((cpu-g.used())/maxProcs, time.Millisecond))
	}
	g.checkTimer.Reset(wait)
}

// exceeded says what the worker used that it may not. One allocation can take all the memory there is at once, which the
// kernel lets pass where the addresses were reserved before.
func (g *watchdog) exceeded() error {
	if cpu := g.limits.cpu; cpu > 0 && g.used() > cpu {
		f := abi.Faultf(abi.Timeout, "%s exceeded its limit of processor time (%s)", g.doing, cpu)
		return f.WithHint("the limit is limits.cpu of the tool, or the host's; by default it is twice the time of the run")
	}
	if g.worker.overMemoryLimit() {
		return memoryFault(g.doing, g.limits.memory)
	}
	if g.worker.threads() > maxThreads {
		return abi.Faultf(abi.MemoryLimit, "%s started more threads than the %d it may", g.doing, maxThreads)
	}
	return g.limits.writes.exceeded()
}

// used is the processor time of the exchange so far.
func (g *watchdog) used() time.Duration { return max(0, cpuTime(g.worker.process.Pid)-g.cpuBefore) }

// done ends the guard. It returns the processor time used, and why the worker was killed: nil where it was not.
func (g *watchdog) done() (used time.Duration, reason error) {
	if g.stop != nil {
		g.stop()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.finished = true
	g.checkTimer.Stop()
	if g.graceTimer != nil {
		g.graceTimer.Stop()
	}
	if g.reason != nil {
		return g.cpuUsed, g.reason
	}
	return g.used(), nil
}
