package sandbox

import (
	"context"
	"sync"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
)

// grace is how long a cell may take to end a run itself that is over its deadline. One that does so can be used
// again.
const grace = 50 * time.Millisecond

// guard kills a cell whose run goes on for too long. Its methods may be called by any goroutine.
type guard struct {
	ctx  context.Context
	cell *process
	stop func() bool // of what waits for ctx

	mu     sync.Mutex
	over   bool // the exchange has ended
	reason error
	spent  time.Duration // of processor time, until the cell was killed
	last   *time.Timer   // at the end of the grace
	next   *time.Timer   // when the cell is looked at next
	doing  string        // for a text
	before time.Duration
	limits allowance
}

// allowance is what a cell may use in an exchange.
type allowance struct {
	cpu    time.Duration // 0 for as much as it takes
	memory int64         // beyond what the cell had before, in bytes
	kept   *keptLimit    // what it may write; nil where it writes nothing
}

// The times between two looks at a cell. Most runs are over before the first.
const (
	firstLook = 20 * time.Millisecond
	nextLook  = 50 * time.Millisecond
)

// watch begins to guard an exchange with a cell.
func watch(ctx context.Context, cell *process, doing string, limits allowance) *guard {
	g := &guard{ctx: ctx, cell: cell, doing: doing, limits: limits, before: cpuTime(cell.process.Pid)}
	if ctx.Done() != nil {
		g.stop = context.AfterFunc(ctx, g.expired)
	}
	g.mu.Lock()
	g.next = time.AfterFunc(firstLook, g.look)
	g.mu.Unlock()
	return g
}

// expired gives a run that ran out of time its grace. Nobody waits for one that was cancelled.
func (g *guard) expired() {
	if g.ctx.Err() == context.DeadlineExceeded {
		g.hurry()
		return
	}
	g.end(engine.EndOf(g.ctx))
}

// hurry kills the cell unless the exchange ends soon.
func (g *guard) hurry() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.over && g.last == nil {
		g.last = time.AfterFunc(grace, func() { g.end(nil) })
	}
}

// end kills the cell; reason is why, where that is not the end of the context.
func (g *guard) end(reason error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if reason == nil {
		reason = engine.EndOf(g.ctx)
	}
	g.kill(reason)
}

// kill kills the cell unless the exchange is over, or it was killed before. The caller holds mu.
func (g *guard) kill(reason error) {
	if !g.over && g.reason == nil {
		g.reason, g.spent = reason, g.used()
		g.cell.kill()
	}
}

// look ends an exchange that used what it may, or looks again.
func (g *guard) look() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over { // the cell may be another exchange's by now
		return
	}
	if err := g.exceeded(); err != nil {
		g.kill(err)
		return
	}
	wait := nextLook
	if cpu := g.limits.cpu; cpu > 0 {
		// No more processors than these work for a cell: before that the limit cannot be reached.
		wait = min(wait, max((cpu-g.used())/processors, time.Millisecond))
	}
	g.next.Reset(wait)
}

// exceeded says what the cell used that it may not. One allocation can take all the memory there is at once, which the
// kernel lets pass where the addresses were reserved before.
func (g *guard) exceeded() error {
	if cpu := g.limits.cpu; cpu > 0 && g.used() > cpu {
		f := abi.Faultf(abi.Timeout, "%s exceeded its limit of processor time (%s)", g.doing, cpu)
		return f.WithHint("the limit is limits.cpu of the tool, or the host's; by default it is twice the time of the run")
	}
	if g.cell.overData() {
		return overMemory(g.doing, g.limits.memory)
	}
	if g.cell.threads() > maxThreads {
		return abi.Faultf(abi.MemoryLimit, "%s started more threads than the %d it may", g.doing, maxThreads)
	}
	return g.limits.kept.exceeded()
}

// used is the processor time of the exchange so far.
func (g *guard) used() time.Duration { return max(0, cpuTime(g.cell.process.Pid)-g.before) }

// done ends the guard. It returns the processor time used, and why the cell was killed: nil where it was not.
func (g *guard) done() (used time.Duration, reason error) {
	if g.stop != nil {
		g.stop()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.over = true
	g.next.Stop()
	if g.last != nil {
		g.last.Stop()
	}
	if g.reason != nil {
		return g.spent, g.reason
	}
	return g.used(), nil
}
