package js

import (
	"reflect"
	"time"

	"github.com/dop251/goja"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
)

// eventLoop runs the timers of a guest and tracks its promises.
type eventLoop struct {
	*realm
	errors   *errorMapper
	cleaner  *errorCleaner
	timers   timers
	memory   *memoryAPI
	rejected []*goja.Promise // the rejected promises that have no handler
}

// The method "settle" runs the event loop until the entry's promise has settled, and returns the
// value of the promise. goja itself runs the jobs of promises at the end of each call into the
// runtime.
func (l *eventLoop) settle(result goja.Value) (goja.Value, error) {
	entry, err := l.promiseOf(result)
	if err != nil {
		return nil, err
	}
	if entry == nil {
		return result, nil
	}
	for entry.State() == goja.PromiseStatePending {
		if l.halted != nil {
			return nil, l.halted
		}
		if err := l.advance(); err != nil {
			return nil, err
		}
	}
	if entry.State() == goja.PromiseStateRejected {
		return nil, l.errors.thrown(entry.Result(), nil)
	}
	return entry.Result(), nil
}

// advance waits for the next event, which is a timer or the answer to an external operation, and
// handles the event.
func (l *eventLoop) advance() error {
	if len(l.memory.external.pending) > 0 {
		return l.awaitExternal()
	}
	if len(l.timers.queue) == 0 {
		return l.neverSettles()
	}
	return l.fireNext()
}

var promiseType = reflect.TypeFor[*goja.Promise]()

// promiseOf returns the promise that an entry returned, or nil if the entry returned a plain value.
// Like await, promiseOf treats an object with a method "then" as a promise.
func (l *eventLoop) promiseOf(result goja.Value) (*goja.Promise, error) {
	object, ok := result.(*goja.Object)
	if !ok {
		return nil, nil
	}
	if object.ExportType() == promiseType {
		return object.Export().(*goja.Promise), nil
	}
	var thenable bool
	if err := l.try(func() { _, thenable = goja.AssertFunction(object.Get("then")) }); err != nil {
		return nil, l.errors.failure(err)
	}
	if !thenable {
		return nil, nil
	}
	promise, resolve, _ := l.vm.NewPromise()
	// The job that resolve creates runs during the next call into the runtime.
	if err := resolve(object); err != nil {
		return nil, l.errors.failure(err)
	}
	return promise, nil
}

// fireNext waits for the next timer and calls the timer's callback.
func (l *eventLoop) fireNext() error {
	if wait := time.Until(l.timers.queue[0].due); wait > 0 {
		if err := l.sleep(wait); err != nil {
			return err
		}
	}
	if l.ctx.Err() != nil {
		return engine.FaultFromContext(l.ctx)
	}
	next := l.timers.fire(time.Now())
	if _, err := next.call(goja.Undefined(), next.args...); err != nil {
		return l.errors.failure(err)
	}
	return nil
}

func (l *eventLoop) sleep(d time.Duration) error {
	wake := time.NewTimer(d)
	defer wake.Stop()
	select {
	case <-wake.C:
		return nil
	case <-l.ctx.Done():
		return engine.FaultFromContext(l.ctx)
	}
}

// neverSettles returns the error of a run that waits for a promise while no timer or call is
// pending. If there is an unhandled rejection, the error reports the rejection instead, because the
// rejection is often the cause.
func (l *eventLoop) neverSettles() error {
	if len(l.rejected) > 0 {
		return l.errors.unhandled(l.rejected[0])
	}
	return abi.Faultf(abi.ToolError, "the tool awaits a promise that can never settle").
		WithHint("resolve the promise; no pending timer or call can resolve it")
}

// trackRejection records rejected promises without a handler. Rejections are reported only at the
// end of the run, because a tool can start a call now and await the call much later.
func (l *eventLoop) trackRejection(p *goja.Promise, operation goja.PromiseRejectionOperation) {
	if operation == goja.PromiseRejectionReject {
		l.cleaner.clean(p.Result())
		l.rejected = append(l.rejected, p)
		return
	}
	for i, waiting := range l.rejected {
		if waiting == p {
			l.rejected = append(l.rejected[:i], l.rejected[i+1:]...)
			return
		}
	}
}
