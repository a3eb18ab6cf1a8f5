package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/toolrun/toolrun/abi"
)

// entryOverhead is the fixed part of the size of an entry, in bytes. The rest is the size of the
// entry's texts and answer.
const entryOverhead = 128

// Call is a function that makes an external call. The argument "idempotencyKey" is the value of the
// header Idempotency-Key. The function must return in bounded time, and soon after ctx has ended.
// ctx has the deadline of the attempt. ctx is cancelled only if the call is safe. The journal keeps
// the returned answer, so the answer must not be modified.
type Call func(ctx context.Context, idempotencyKey string) (answer []byte, err error)

// Attempt is one execution of a run and its nested runs. Attempt is safe for concurrent use.
type Attempt struct {
	journal *Journal
	number  int
	// ended is closed when the attempt ends. The journal's lock guards the fields below. A
	// goroutine must also hold the lock to close the channel.
	ended chan struct{}
	equal map[Key]int
	live  bool
}

// Do returns the recorded answer or error of the request. If no answer or error is recorded, Do
// makes the call and records the result. If too many attempts have made new calls, Do returns a
// *ConflictError and makes no call.
//
// If ctx or the attempt ends before the call, Do returns a fault with the code timeout or
// cancelled. This fault is not recorded. Do then cancels the call if the call is safe. An unsafe
// call continues, and its result is recorded. The returned answer must not be modified.
func (a *Attempt) Do(ctx context.Context, request Request, call Call) ([]byte, error) {
	return a.Prepare(request).Do(ctx, call)
}

// Prepared contains a request, and the request's number among the equal requests of an attempt.
// Prepared is safe for concurrent use.
type Prepared struct {
	attempt *Attempt
	key     Key
	safe    bool
}

// Prepare numbers the equal requests of an attempt and does not make a call. If calls will be made
// at the same time, their requests must be prepared one after the other. Otherwise, equal requests
// could have different numbers in different attempts.
func (a *Attempt) Prepare(request Request) *Prepared {
	return &Prepared{a, a.nextKey(request), request.Safe}
}

// Order returns the position of the request's result among the recorded results of the run.
// Positions start at 1. If no result is recorded, Order returns 0. An attempt that uses the results
// in this order uses them in the same order as the earlier attempts.
func (p *Prepared) Order() int {
	j := p.attempt.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	if e := j.entries[p.key]; e != nil {
		return e.finished
	}
	return 0
}

// Do makes the call of a prepared request, like Attempt.Do.
func (p *Prepared) Do(ctx context.Context, call Call) ([]byte, error) {
	a := p.attempt
	for {
		e, err := a.enter(ctx, p.key, p.safe, call)
		if err != nil {
			return nil, err
		}
		select {
		case <-e.done:
			if !e.discarded {
				return e.answer, e.err
			}
		case <-ctx.Done():
			a.journal.abandon(e)
			return nil, contextFault(ctx)
		case <-a.ended:
			return nil, errEnded()
		}
	}
}

// nextKey returns the key of a request. The key contains the request's number among the equal
// requests of this attempt.
func (a *Attempt) nextKey(request Request) Key {
	key := request.key()
	a.journal.mu.Lock()
	defer a.journal.mu.Unlock()
	a.equal[key]++
	key.N = a.equal[key]
	return key
}

// enter returns the entry of a call. If no entry exists, the method creates the entry and starts
// the call.
func (a *Attempt) enter(ctx context.Context, key Key, safe bool, call Call) (*entry, error) {
	j := a.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	if a.hasEnded() {
		return nil, errEnded()
	}
	if ctx.Err() != nil {
		return nil, contextFault(ctx)
	}
	if e := j.entries[key]; e != nil {
		e.attempt = a.number
		return e, nil
	}
	if !a.live {
		if j.live == j.limits.LiveAttempts {
			return nil, &ConflictError{Reason: fmt.Sprintf("%d attempts have made external calls", j.live)}
		}
		a.live = true
		j.live++
	}
	detached, cancel := detach(ctx)
	e := &entry{key: key, order: j.started, safe: safe, cancel: cancel, attempt: a.number, done: make(chan struct{})}
	j.started++
	j.entries[key] = e
	go func() {
		defer cancel()
		answer, err := protect(detached, call, key.Idempotency(j.runKey))
		j.finish(e, answer, err)
	}()
	return e, nil
}

// detach returns a context that has the values and the deadline of ctx. A cancellation of ctx does
// not cancel the returned context.
func detach(ctx context.Context) (context.Context, context.CancelFunc) {
	detached := context.WithoutCancel(ctx)
	if deadline, ok := ctx.Deadline(); ok {
		return context.WithDeadline(detached, deadline)
	}
	return context.WithCancel(detached)
}

// protect makes a call and converts a panic to an error. The call runs on a separate goroutine, so
// a panic would end the process.
func protect(ctx context.Context, call Call, idempotencyKey string) (answer []byte, err error) {
	defer func() {
		if v := recover(); v != nil {
			answer, err = nil, fmt.Errorf("external call panicked: %v\n%s", v, debug.Stack())
		}
	}()
	return call(ctx, idempotencyKey)
}

// finish records the result of a call.
func (j *Journal) finish(e *entry, answer []byte, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	defer close(e.done)
	if e.cancelled && err != nil {
		e.discarded = true
		delete(j.entries, e.key)
		return
	}
	e.cancelled = false
	j.finished++
	e.finished = j.finished
	if err != nil {
		answer = nil
		e.encoded, _ = json.Marshal(abi.FaultOf(err)) // a fault can always be encoded
	}
	e.answer, e.err = answer, err
	size := e.size()
	if j.recorded == j.limits.Entries || size > j.limits.Bytes-j.bytes {
		j.full = true
		delete(j.entries, e.key)
		return
	}
	j.recorded++
	j.bytes += size
}

func (e *entry) size() int {
	return entryOverhead + len(e.key.Kind) + len(e.key.Target) + len(e.answer) + len(e.encoded)
}

// abandon cancels a call if the call is safe.
func (j *Journal) abandon(e *entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	e.stop()
}

// stop of entry cancels a call that is safe and in flight. The caller must hold the journal's lock.
func (e *entry) stop() {
	if e.safe && e.inFlight() {
		e.cancelled = true
		e.cancel()
	}
}

func (e *entry) inFlight() bool {
	select {
	case <-e.done:
		return false
	default:
		return true
	}
}

// End ends the attempt. End cancels the attempt's safe calls, and waits until all calls of the run
// have returned and are recorded. If ctx ends before that, End stops waiting and returns the fault
// for ctx; calls in flight are still recorded when they return. After End, Do returns a fault with
// the code cancelled. End can be called more than once.
func (a *Attempt) End(ctx context.Context) error {
	for _, e := range a.end() {
		select {
		case <-e.done:
		case <-ctx.Done():
			return contextFault(ctx)
		}
	}
	return nil
}

// end stops the attempt and returns the entries of the calls in flight.
func (a *Attempt) end() (flying []*entry) {
	a.journal.mu.Lock()
	defer a.journal.mu.Unlock()
	a.stop()
	for _, e := range a.journal.entries {
		if e.inFlight() {
			flying = append(flying, e)
		}
	}
	return flying
}

// stop of Attempt marks the attempt as ended and cancels the attempt's safe calls. The caller must
// hold the journal's lock.
func (a *Attempt) stop() {
	if a.hasEnded() {
		return
	}
	close(a.ended)
	for _, e := range a.journal.entries {
		if e.attempt == a.number {
			e.stop()
		}
	}
}

func (a *Attempt) hasEnded() bool {
	select {
	case <-a.ended:
		return true
	default:
		return false
	}
}

func errEnded() error { return abi.Faultf(abi.Cancelled, "the run's attempt has ended") }

// contextFault returns the fault for a context that has ended.
func contextFault(ctx context.Context) error {
	cause := context.Cause(ctx)
	if fault, ok := errors.AsType[*abi.Fault](cause); ok {
		return fault
	}
	if errors.Is(cause, context.DeadlineExceeded) {
		return abi.Faultf(abi.Timeout, "the external call exceeded its deadline")
	}
	return abi.Faultf(abi.Cancelled, "the external call was cancelled")
}
