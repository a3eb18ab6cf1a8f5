package js

import (
	"github.com/dop251/goja"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
)

// maxMessageBytes is the maximum size of the message of a guest's error.
const maxMessageBytes = 4 << 10

// issued is a fault that was raised in the guest, together with its stack trace.
type issued struct {
	fault *abi.Fault
	trace trace
}

// errorMapper converts between the faults of the host and the errors of a guest.
type errorMapper struct {
	*realm
	program  *program
	prelude  *prelude
	cleaner  *errorCleaner
	issued   map[*goja.Object]issued // the guest's errors that represent faults
	readNone bool                    // true after a read has returned null, which a hint can mention
}

// raise throws a fault in the guest as a MemoryAccessError. Only the thrown object represents the
// fault, because a guest can create another error with the same properties.
func (e *errorMapper) raise(f *abi.Fault) {
	object := e.prelude.newMemoryAccessError(f)
	if e.issued == nil {
		e.issued = make(map[*goja.Object]issued)
	}
	e.issued[object] = issued{fault: f, trace: e.program.traceOf(e.vm.CaptureCallStack(0, nil))}
	panic(object)
}

// failure returns the result of Run for an error that ended a call into the runtime.
func (e *errorMapper) failure(err error) error {
	if e.halted != nil {
		return e.halted
	}
	// The code does not use errors.As, which would unwrap the Exception and read properties of the
	// guest's objects.
	switch ended := err.(type) {
	case *goja.InterruptedError:
		return engine.FaultFromContext(e.ctx)
	case *goja.StackOverflowError:
		return e.program.traceOf(ended.Stack()).addTo(abi.Faultf(abi.StackLimit,
			"the call depth exceeds %d", e.limits.CallDepth).
			WithHint("check that recursive functions terminate"))
	case *goja.Exception:
		return e.thrown(ended.Value(), ended.Stack())
	}
	panic(err) // goja is not known to return any other kind of error
}

// thrown returns the fault for a value that a guest threw and did not catch. frames is the stack of
// the throw if it is known.
func (e *errorMapper) thrown(value goja.Value, frames []goja.StackFrame) error {
	if object, ok := value.(*goja.Object); ok {
		if from, ok := e.issued[object]; ok {
			return from.trace.addTo(from.fault)
		}
	}
	f := abi.Faultf(abi.ToolError, "")
	where := e.program.traceOf(frames)
	failed := e.try(func() {
		f.Message = e.describe(value)
		// The position at which an error was created is more useful than the position at which the
		// error was thrown later.
		if made := e.program.traceOfError(value); len(made) > 0 {
			where = made
		}
	})
	if failed != nil {
		if _, ok := failed.(*goja.Exception); !ok {
			return e.failure(failed)
		}
		f.Message = "the tool threw a value that cannot be described"
	}
	f.Message = e.cleaner.text(f.Message)
	e.advise(f)
	f.Message = cut(f.Message, maxMessageBytes)
	return where.addTo(f)
}

// unhandled returns the fault for a rejected promise that has no handler.
func (e *errorMapper) unhandled(p *goja.Promise) error {
	fault, ok := e.thrown(p.Result(), nil).(*abi.Fault)
	if !ok {
		return e.halted
	}
	copied := *fault
	if copied.Hint == "" {
		copied.Hint = "a promise was rejected without a handler; check whether an `await` is missing"
	}
	return &copied
}

// describe returns a message for a value that a guest threw. describe runs guest code.
func (e *errorMapper) describe(value goja.Value) string {
	switch v := value.(type) {
	case *goja.Symbol:
		return "the tool threw a symbol"
	case goja.String:
		return v.String()
	case *goja.Object:
		return e.describeObject(v)
	}
	if isUndefined(value) {
		return "the tool threw undefined"
	}
	return "the tool threw " + value.String()
}

func (e *errorMapper) describeObject(o *goja.Object) string {
	message, hasMessage := o.Get("message").(goja.String)
	if o.ClassName() != "Error" {
		if hasMessage {
			return message.String()
		}
		text, refused := encodeJSON(e.realm, "value", o, bounds{nesting: 10, bytes: 1 << 10})
		if refused != nil || text == nil {
			return "the tool threw an object"
		}
		return "the tool threw " + string(text)
	}
	name, hasName := o.Get("name").(goja.String)
	switch {
	case !hasMessage || message.Length() == 0:
		if hasName {
			return name.String()
		}
		return "the tool threw an error without a message"
	case !hasName || name.String() == "Error":
		return message.String()
	}
	return name.String() + ": " + message.String()
}
