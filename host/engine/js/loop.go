package js

import (
	"reflect"
	"time"

	"github.com/dop251/goja"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
)

// eventLoop runs the timers of a guest. It also tracks the promises of the guest.
type eventLoop struct {
	*realm
	errors   *errorMapper
	cleaner  *errorCleaner
	timers   timers
	memory   *memoryAPI
	rejected []*goja.Promise // rejected promises that do not have a handler
}

// settle runs the event loop until the promise that the tool's entry returned has settled, and
// returns its value. At the end of each call into the runtime, goja itself runs the jobs of
// promises.
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

// advance waits for the next event and handles it. An event is a timer, or the answer to an
// external operation.
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

// promiseOf returns the promise that the entry of a tool returned. If the entry returned a plain
// value, promiseOf returns nil. If an object has a method "then", promiseOf treats it as a promise,
// like await.
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
	// The function "resolve" creates a job. This job runs during the next call into the runtime.
	if err := resolve(object); err != nil {
		return nil, l.errors.failure(err)
	}
	return promise, nil
}

// fireNext waits until the next timer is due. It then calls the callback of this timer.
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

// neverSettles returns the error for a run that waits for a promise while no timer and no call is
// pending. Such a promise never settles. If there is an unhandled rejection, the error reports the
// rejection instead, because it is often the cause.
func (l *eventLoop) neverSettles() error {
	if len(l.rejected) > 0 {
		return l.errors.unhandled(l.rejected[0])
	}
	return abi.Faultf(abi.ToolError, "the tool awaits a promise that can never settle").
		WithHint("resolve the promise; no pending timer or call can resolve it")
}

// trackRejection records each rejected promise that has no handler. A tool can start a call now,
// and await the call much later. Therefore, rejections are reported only at the end of the run.
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
