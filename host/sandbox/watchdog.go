package sandbox

import (
	"context"
	"sync"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
)

// grace is the length of the grace period, which begins at the deadline of a run. If a worker ends
// the run within the grace period, the worker is reused. Otherwise, it is killed.
const grace = 50 * time.Millisecond

// restGrace is the grace period of a worker whose guest waits for the host. A worker whose guest
// waits for the host needs little processor time to end the run, but a busy machine can delay the
// worker.
const restGrace = 500 * time.Millisecond

// watchdog kills a worker whose run exceeds its budget. The methods of watchdog are safe for
// concurrent use.
type watchdog struct {
	ctx    context.Context
	worker *worker
	stop   func() bool // after a call of this function, the end of ctx has no effect

	mu         sync.Mutex
	finished   bool // true if the exchange has ended
	reason     error
	cpuUsed    time.Duration // the processor time used until the kill
	graceTimer *time.Timer   // the timer of the end of the grace period
	checkTimer *time.Timer   // the timer of the next check
	doing      string        // the subject of messages
	cpuBefore  time.Duration
	limits     budget
	resting    bool // true if the guest waits for an external operation
}

// budget limits the resources of an exchange.
type budget struct {
	cpu    time.Duration // 0 disables the limit
	memory int64         // in bytes, in addition to the baseline of the worker
	writes *writeLimit   // nil if the worker writes no files
}

// The intervals between checks. Most runs end before the first check.
const (
	firstCheck    = 20 * time.Millisecond
	checkInterval = 50 * time.Millisecond
	restInterval  = time.Second // the interval while the guest waits for the host
)

// startWatchdog starts watching an exchange with a worker.
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

// contextDone starts the grace period of a run that timed out. A canceled run has a grace period
// only if the guest waits for an external operation. After a cancellation, the guest's wait for the
// external operation ends at once, and the worker is reused.
func (g *watchdog) contextDone() {
	g.mu.Lock()
	resting := g.resting
	g.mu.Unlock()
	if resting || g.ctx.Err() == context.DeadlineExceeded {
		g.startGrace()
		return
	}
	g.end(engine.FaultFromContext(g.ctx))
}

// startGrace kills the worker unless the exchange ends within the grace period.
func (g *watchdog) startGrace() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.finished || g.graceTimer != nil {
		return
	}
	limit := grace
	if g.resting {
		limit = restGrace
	}
	g.graceTimer = time.AfterFunc(limit, func() { g.end(nil) })
}

// end kills the worker for a reason. If the argument "reason" is nil, the reason is the cause of
// the context.
func (g *watchdog) end(reason error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if reason == nil {
		reason = engine.FaultFromContext(g.ctx)
	}
	g.kill(reason)
}

// kill kills the worker unless the exchange has ended or the worker has already been killed. The
// caller must hold mu.
func (g *watchdog) kill(reason error) {
	if !g.finished && g.reason == nil {
		g.reason, g.cpuUsed = reason, g.used()
		g.worker.kill()
	}
}

// check kills a worker that has exceeded its budget. For a worker within its budget, the method
// schedules the next check.
func (g *watchdog) check() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.finished { // the worker may already run another exchange
		return
	}
	if err := g.exceeded(); err != nil {
		g.kill(err)
		return
	}
	wait := checkInterval
	if g.resting {
		wait = restInterval
	}
	if cpu := g.limits.cpu; cpu > 0 {
		// A worker uses at most maxProcs processors, so it cannot reach its limit on processor time
		// before the next check.
		wait = min(wait, max((cpu-g.used())/maxProcs, time.Millisecond))
	}
	g.checkTimer.Reset(wait)
}

// rest makes the checks less frequent while the guest waits for the host.
func (g *watchdog) rest(resting bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.resting = resting
	if !g.finished && g.checkTimer != nil && !resting {
		g.checkTimer.Reset(firstCheck)
	}
}

// exceeded returns a fault if the worker has exceeded its budget. The watchdog must check the
// memory, because the kernel does not limit the use of address space that was reserved earlier.
func (g *watchdog) exceeded() error {
	if cpu := g.limits.cpu; cpu > 0 && g.used() > cpu {
		f := abi.Faultf(abi.Timeout, "%s exceeded its processor time limit (%s)", g.doing, cpu)
		return f.WithHint("raise limits.cpu of the tool (default: twice the time limit of the run), or the host's limit")
	}
	if g.worker.overMemoryLimit() {
		return memoryFault(g.doing, g.limits.memory)
	}
	if g.worker.threads() > maxThreads {
		return abi.Faultf(abi.MemoryLimit, "%s exceeded the limit of %d threads", g.doing, maxThreads)
	}
	return g.limits.writes.exceeded()
}

// used returns the processor time that the exchange has used so far.
func (g *watchdog) used() time.Duration { return max(0, cpuTime(g.worker.process.Pid)-g.cpuBefore) }

// done ends the watchdog. done returns the processor time that the exchange used, and the reason
// why the worker was killed. The reason is nil if the worker was not killed.
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
