package host

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/toolrun/toolrun/abi"
)

// park is called before an external call is made. park releases the run's locks and its slot at the
// gate, and stops the run's clock. If too many runs are already parked, park changes nothing and
// returns a fault. If the run already waits for other calls, it was parked before, and park always
// succeeds.
func (x *externals) park(again bool) error {
	if err := x.h.gate.Park(x.job.flow(), again); err != nil {
		return err
	}
	x.parked = true
	x.view.ReleaseLocks()
	for _, c := range x.job.clocks {
		c.pause()
	}
	return nil
}

// unpark waits until the run has a slot at the gate again. If the attempt ends before this, unpark
// returns an error, which ends the run. After such an error, the run has no slot. If a nested run
// ends, unpark continues to wait, because the outer run needs the slot.
func (x *externals) unpark() error {
	defer func() {
		for _, c := range x.job.clocks {
			c.resume()
		}
	}()
	if err := x.h.gate.Unpark(x.whole, x.job.flow()); err != nil {
		return &stop{abi.FaultOf(err)}
	}
	x.parked = false
	return nil
}

// clock is a context that ends when the computing time of a run reaches the time limit. The time
// while the clock is paused does not count. The deadline of the context is the run's deadline,
// toward which paused time also counts.
type clock struct {
	context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
	// The field "over" is true if the time limit ended the context.
	over atomic.Bool
	// left is the computing time that remained when the timer was last started. Only the run's
	// goroutine uses left.
	left    time.Duration
	started time.Time
}

// newClock returns a running clock. If the time limit ends the context, the argument "overtime" is
// the cause.
func newClock(parent context.Context, limit time.Duration, overtime error) *clock {
	c := &clock{left: limit, started: time.Now()}
	c.Context, c.cancel = context.WithCancelCause(parent)
	c.timer = time.AfterFunc(limit, func() {
		c.over.Store(true)
		c.cancel(overtime)
	})
	return c
}

// Err implements context.Context.
func (c *clock) Err() error {
	err := c.Context.Err()
	if err != nil && c.over.Load() {
		return context.DeadlineExceeded
	}
	return err
}

// pause stops the clock.
func (c *clock) pause() {
	c.timer.Stop()
	c.left -= time.Since(c.started)
}

// resume starts the clock again after a pause.
func (c *clock) resume() {
	c.started = time.Now()
	c.timer.Reset(max(c.left, 0))
}

// stop ends the context and frees the clock.
func (c *clock) stop() {
	c.timer.Stop()
	c.cancel(nil)
}
