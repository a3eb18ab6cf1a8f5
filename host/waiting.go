package host

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/journal"
)

// maxInFlight is the maximum number of external calls that one run makes at the same time. If there
// are more calls, they wait until an earlier call has ended.
const maxInFlight = 10

// waiting contains the external calls whose answers the guest has not received yet. The calls are
// not started before the guest waits for an answer.
type waiting struct {
	x     *externals
	calls []*waitingCall

	mu   sync.Mutex    // guards the answers
	wake chan struct{} // receives a value if there is a new answer
	late int           // the number of answers without a position in the journal
}

// waitingCall is a call and, if it has arrived, the answer to the call.
type waitingCall struct {
	id       uint64
	call     externalCall
	prepared *journal.Prepared // nil if the answer is known without a call
	started  bool
	done     bool
	order    int // the position of the answer in the order of arrival
	content  []byte
	err      error
}

// add adds a call. The caller chooses the id of this call. If add returns an error, the type of
// this error is *stop.
func (w *waiting) add(id uint64, c externalCall) error {
	prepared, err := w.x.prepare(c)
	if err != nil {
		return err
	}
	w.calls = append(w.calls, &waitingCall{id: id, call: c, prepared: prepared})
	return nil
}

// addKnown adds a call whose answer is already known. For example, the call was refused.
func (w *waiting) addKnown(id uint64, content []byte, err error) {
	w.calls = append(w.calls, &waitingCall{id: id, done: true, content: content, err: err})
}

// next returns the next answer. Recorded answers are returned in the order in which they first
// arrived. Therefore a repeated attempt gets its answers in the same order. If the argument "until"
// is not zero and no answer arrives before this time, next returns the zero waitingCall. If next
// returns an error, its type is *stop.
func (w *waiting) next(ctx context.Context, until time.Time) (waitingCall, error) {
	if c := w.take(ctx); c != nil {
		return *c, nil
	}
	if err := w.x.park(w.flying() > 0); err != nil {
		w.refuse(ctx, err)
		return *w.take(ctx), nil
	}
	w.start(ctx)
	err := w.wait(ctx, until)
	if unparked := w.x.unpark(); err == nil {
		err = unparked
	}
	if err != nil {
		return waitingCall{}, err
	}
	if c := w.take(ctx); c != nil {
		return *c, nil
	}
	return waitingCall{}, nil
}

// one returns the answer to the only waiting call.
func (w *waiting) one(ctx context.Context) ([]byte, error) {
	answer, err := w.next(ctx, time.Time{})
	if err != nil {
		return nil, err
	}
	return answer.content, answer.err
}

// take removes the call whose answer arrived first, and returns this call. If no answer has arrived
// yet, take returns nil.
func (w *waiting) take(ctx context.Context) *waitingCall {
	w.mu.Lock()
	defer w.mu.Unlock()
	first, at := -1, math.MaxInt
	for i, c := range w.calls {
		order := c.order
		if !c.done {
			if order = c.prepared.Order(); order == 0 {
				continue
			}
		}
		if order < at {
			first, at = i, order
		}
	}
	if first < 0 {
		return nil
	}
	c := w.calls[first]
	w.calls = append(w.calls[:first], w.calls[first+1:]...)
	if !c.done {
		c.content, c.err = w.x.make(ctx, c.prepared, c.call) // recorded
	}
	taken := *c // the goroutine of the call can still write to c
	if s, ok := taken.err.(*stop); ok && s.fault.Code == abi.Conflict {
		w.x.stopped = s // the same call would fail in every later attempt
	}
	return &taken
}

// flying returns the number of calls in flight.
func (w *waiting) flying() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.calls {
		if c.started && !c.done {
			n++
		}
	}
	return n
}

// refuse answers all calls that have not been started. The answer to each of these calls is the
// given fault.
func (w *waiting) refuse(ctx context.Context, fault error) {
	for _, c := range w.calls {
		if c.started || c.done {
			continue
		}
		c.call.do = func(context.Context, string) ([]byte, error) { return nil, fault }
		w.finish(c, func() ([]byte, error) { return w.x.make(ctx, c.prepared, c.call) })
	}
}

// start starts waiting calls until maxInFlight calls are in flight.
func (w *waiting) start(ctx context.Context) {
	flying := w.flying()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.wake == nil {
		w.wake = make(chan struct{}, 1)
	}
	for _, c := range w.calls {
		if c.started || c.done || flying == maxInFlight {
			continue
		}
		c.started = true
		flying++
		go w.finish(c, func() ([]byte, error) { return w.x.make(ctx, c.prepared, c.call) })
	}
}

// finish makes a call and stores the answer to this call.
func (w *waiting) finish(c *waitingCall, do func() ([]byte, error)) {
	content, err := do()
	w.mu.Lock()
	defer w.mu.Unlock()
	c.started, c.done, c.content, c.err = true, true, content, err
	if c.order = c.prepared.Order(); c.order == 0 { // the journal is full, or the run is about to end
		w.late++
		c.order = math.MaxInt32 + w.late
	}
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// answered reports whether any answer has arrived.
func (w *waiting) answered() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.calls {
		if c.done {
			return true
		}
	}
	return false
}

// wait waits until an answer has arrived, or until the given time.
func (w *waiting) wait(ctx context.Context, until time.Time) error {
	var due <-chan time.Time
	if !until.IsZero() {
		timer := time.NewTimer(time.Until(until))
		defer timer.Stop()
		due = timer.C
	}
	for !w.answered() {
		select {
		case <-w.wake:
		case <-due:
			return nil
		case <-w.x.h.closing:
			w.x.stopped = &stop{errHostClosed} // the agent that started the nested run must not continue
			return w.x.stopped
		case <-ctx.Done():
			return w.x.classify(ctx, ctx.Err())
		}
	}
	return nil
}
