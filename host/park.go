package host

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/toolrun/toolrun/abi"
)

// park releases the run's slot at the gate and its locks, and stops its clock, before a call leaves
// the host. If too many runs are parked, the error is a fault, and nothing has changed. If the run
// has other calls in flight, it was parked before, and park always succeeds again.
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

// unpark waits for a slot at the gate. If the attempt ends first, unpark returns an error that ends
// the run. After such an error, the run has no slot. The end of a nested run does not end the wait,
// because the outer run needs the slot.
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

// clock is a context that ends when the computing time of a run reaches its time limit. The time
// while the clock is paused does not count. The deadline of the context is the run's deadline,
// which also includes paused time.
type clock struct {
	context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
	// The field "over" is true if the time limit ended the context.
	over atomic.Bool
	// The field "left" is the remaining computing time at the last start of the timer. Only the
	// run's goroutine uses the field "left".
	left    time.Duration
	started time.Time
}

// newClock returns a running clock. The argument "overtime" is the cause of the context if the time
// limit ends the context.
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

// resume starts the clock again.
func (c *clock) resume() {
	c.started = time.Now()
	c.timer.Reset(max(c.left, 0))
}

// The method "stop" ends the context and frees the clock.
func (c *clock) stop() {
	c.timer.Stop()
	c.cancel(nil)
}
