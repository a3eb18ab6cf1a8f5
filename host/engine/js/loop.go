package js

import (
	"reflect"
	"time"

	"github.com/dop251/goja"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
)

// settle turns the event loop until the entry's promise has settled, and returns its value. goja runs the
// jobs of promises by itself, whenever a call into the runtime returns.
func (r *run) settle(result goja.Value) (goja.Value, error) {
	entry, err := r.promiseOf(result)
	if err != nil {
		return nil, err
	}
	if entry == nil {
		return result, nil
	}
	for entry.State() == goja.PromiseStatePending {
		if r.halted != nil {
			return nil, r.halted
		}
		if len(r.timers.queue) == 0 {
			return nil, r.neverSettles()
		}
		if err := r.fireNext(); err != nil {
			return nil, err
		}
	}
	if entry.State() == goja.PromiseStateRejected {
		return nil, r.thrown(entry.Result(), nil)
	}
	return entry.Result(), nil
}

var promiseType = reflect.TypeFor[*goja.Promise]()

// promiseOf returns the promise that an entry answered, nil where it answered a plain value. Another object
// with a method "then" counts as a promise, as it does for await.
func (r *run) promiseOf(result goja.Value) (*goja.Promise, error) {
	object, ok := result.(*goja.Object)
	if !ok {
		return nil, nil
	}
	if object.ExportType() == promiseType {
		return object.Export().(*goja.Promise), nil
	}
	var thenable bool
	if err := r.try(func() { _, thenable = goja.AssertFunction(object.Get("then")) }); err != nil {
		return nil, r.failure(err)
	}
	if !thenable {
		return nil, nil
	}
	promise, resolve, _ := r.vm.NewPromise()
	// Any call from outside runs the job that resolve leaves behind.
	if err := resolve(object); err != nil {
		return nil, r.failure(err)
	}
	return promise, nil
}

// fireNext waits for the next timer and calls it.
func (r *run) fireNext() error {
	if wait := time.Until(r.timers.queue[0].due); wait > 0 {
		if err := r.sleep(wait); err != nil {
			return err
		}
	}
	if r.ctx.Err() != nil {
		return engine.EndOf(r.ctx)
	}
	next := r.timers.fire(time.Now())
	if _, err := next.call(goja.Undefined(), next.args...); err != nil {
		return r.failure(err)
	}
	return nil
}

func (r *run) sleep(d time.Duration) error {
	wake := time.NewTimer(d)
	defer wake.Stop()
	select {
	case <-wake.C:
		return nil
	case <-r.ctx.Done():
		return engine.EndOf(r.ctx)
	}
}

// neverSettles says why a run that waits for nothing cannot go on. A rejection that nothing handled is the
// better reason, for it is often what the tool waits behind.
func (r *run) neverSettles() error {
	if len(r.rejected) > 0 {
		return r.unhandled(r.rejected[0])
	}
	return abi.Faultf(abi.ToolError, "the tool waits for a promise that can never settle").
		WithHint("nothing is left that could resolve it: no timer runs and no call is under way")
}

// trackRejection keeps the promises that were rejected and that nothing handles. They are judged when the run
// ends, not before: a tool may start a call, do something else and await it later.
func (r *run) trackRejection(p *goja.Promise, operation goja.PromiseRejectionOperation) {
	if operation == goja.PromiseRejectionReject {
		r.clean(p.Result())
		r.rejected = append(r.rejected, p)
		return
	}
	for i, waiting := range r.rejected {
		if waiting == p {
			r.rejected = append(r.rejected[:i], r.rejected[i+1:]...)
			return
		}
	}
}
