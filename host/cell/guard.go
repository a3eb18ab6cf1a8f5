package cell

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
	kill   *time.Timer // at the end of the grace
	cpu    *time.Timer // when the processor time is looked at next
	before time.Duration
	limit  time.Duration
}

// watch begins to guard an exchange with a cell; limit bounds its processor time where it is not 0.
func watch(ctx context.Context, cell *process, limit time.Duration) *guard {
	g := &guard{ctx: ctx, cell: cell, limit: limit, before: cpuTime(cell.process.Pid)}
	if ctx.Done() != nil {
		g.stop = context.AfterFunc(ctx, g.expired)
	}
	if limit > 0 && cell.report.On(LayerCPU) {
		g.mu.Lock()
		// No more processors than these work for a cell: before that the limit cannot be reached.
		g.cpu = time.AfterFunc(limit/processors, g.checkCPU)
		g.mu.Unlock()
	}
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
	if !g.over && g.kill == nil {
		g.kill = time.AfterFunc(grace, func() { g.end(nil) })
	}
}

// end kills the cell; reason is why, where that is not the end of the context.
func (g *guard) end(reason error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over || g.reason != nil {
		return
	}
	g.reason = reason
	if reason == nil {
		g.reason = engine.EndOf(g.ctx)
	}
	g.cell.kill()
}

// checkCPU ends a run that used its processor time, or looks again when it can have done so.
func (g *guard) checkCPU() {
	g.mu.Lock()
	left := g.limit - (cpuTime(g.cell.process.Pid) - g.before)
	if g.over || left > 0 {
		if !g.over {
			g.cpu.Reset(max(left/processors, time.Millisecond))
		}
		g.mu.Unlock()
		return
	}
	g.mu.Unlock()
	g.end(abi.Faultf(abi.Timeout, "the run used more processor time than the %s it may", g.limit))
}

// done ends the guard. It returns the processor time used, and why the cell was killed: nil where it was not.
func (g *guard) done() (used time.Duration, reason error) {
	if g.stop != nil {
		g.stop()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.over = true
	for _, t := range []*time.Timer{g.kill, g.cpu} {
		if t != nil {
			t.Stop()
		}
	}
	if g.reason == nil {
		used = max(0, cpuTime(g.cell.process.Pid)-g.before)
	}
	return used, g.reason
}
