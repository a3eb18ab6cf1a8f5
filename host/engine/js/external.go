package js

import (
	"context"
	"encoding/json"
	"time"

	"github.com/dop251/goja"

	"github.com/toolrun/toolrun/abi"
)

// externalCalls contains the external operations that a guest has begun. If the field "begin" is
// nil, the guest must wait for each answer; see engine.Host.
type externalCalls struct {
	begin   func(call abi.Call) (id uint64, err error)
	await   func(ctx context.Context, until time.Time) (id uint64, reply json.RawMessage, err error)
	pending map[uint64]pendingCall
}

// pendingCall is an external operation that has not yet been answered.
type pendingCall struct {
	op              *abi.Operation
	resolve, reject func(value any) error
}

// externalOperation returns the native function that a guest calls for an external operation. This
// function begins the operation and returns a promise. When the answer arrives, the event loop
// settles the promise.
func (m *memoryAPI) externalOperation(op *abi.Operation) nativeFunc {
	return func(call goja.FunctionCall) goja.Value {
		promise, resolve, reject := m.vm.NewPromise()
		var request abi.Call
		if thrown := m.vm.Try(func() { request = m.arguments(op, m.arrange(op, call.Arguments)) }); thrown != nil {
			if err := reject(thrown.Value()); err != nil {
				panic(err) // the run has been stopped
			}
			return m.vm.ToValue(promise)
		}
		m.beginExternal(op, request, resolve, reject)
		return m.vm.ToValue(promise)
	}
}

func (m *memoryAPI) beginExternal(op *abi.Operation, request abi.Call, resolve, reject func(any) error) {
	if m.halted != nil {
		return
	}
	id, err := m.external.begin(request)
	if fault, ok := err.(*abi.Fault); ok {
		err = nil
		if thrown := m.vm.Try(func() { m.errors.raise(fault) }); thrown != nil {
			err = reject(thrown.Value())
		}
		if err == nil {
			return
		}
	}
	if err != nil {
		m.halt(err)
		return
	}
	if m.external.pending == nil {
		m.external.pending = map[uint64]pendingCall{}
	}
	m.external.pending[id] = pendingCall{op, resolve, reject}
}

// awaitExternal waits for the next answer to an external operation. It then settles the promise of
// this operation. If a timer is due before the next answer arrives, awaitExternal fires the timer
// instead.
func (l *eventLoop) awaitExternal() error {
	var until time.Time
	if len(l.timers.queue) > 0 {
		until = l.timers.queue[0].due
		if !until.After(time.Now()) {
			return l.fireNext()
		}
	}
	id, reply, err := l.memory.external.await(l.ctx, until)
	fault, caught := err.(*abi.Fault)
	if err != nil && !caught {
		return err
	}
	call, ok := l.memory.external.pending[id]
	if !ok {
		return nil // the timer is due
	}
	delete(l.memory.external.pending, id)
	return l.settleExternal(call, reply, fault)
}

// settleExternal settles the promise of an operation. This also runs the jobs that await the
// promise.
func (l *eventLoop) settleExternal(call pendingCall, reply json.RawMessage, fault *abi.Fault) error {
	var value goja.Value
	settle := call.resolve
	thrown := l.vm.Try(func() {
		if fault != nil {
			l.memory.errors.raise(fault)
		}
		value = l.memory.reply(call.op.Name, reply)
	})
	if thrown != nil {
		settle, value = call.reject, thrown.Value()
	}
	if err := settle(value); err != nil {
		return l.errors.failure(err)
	}
	return nil
}
