package js

import (
	"github.com/dop251/goja"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
)

// maxMessageBytes is the maximum size of the message of a guest's error.
const maxMessageBytes = 4 << 10

// issued is a fault that was raised in the guest. It also contains the stack trace of the fault.
type issued struct {
	fault *abi.Fault
	trace trace
}

// errorMapper converts faults of the host to errors of a guest, and errors of a guest to faults.
type errorMapper struct {
	*realm
	program  *program
	prelude  *prelude
	cleaner  *errorCleaner
	issued   map[*goja.Object]issued // errors of the guest, each of which represents a fault
	readNone bool                    // true after a read has returned null; hints can mention this
}

// raise throws an error in the guest. The error represents a fault, and is a MemoryAccessError. A
// guest can create another error with the same properties. Therefore, only the thrown object
// represents the fault.
func (e *errorMapper) raise(f *abi.Fault) {
	object := e.prelude.newMemoryAccessError(f)
	if e.issued == nil {
		e.issued = make(map[*goja.Object]issued)
	}
	e.issued[object] = issued{fault: f, trace: e.program.traceOf(e.vm.CaptureCallStack(0, nil))}
	panic(object)
}

// failure returns the error with which Run ends after a call into the runtime has failed with err.
func (e *errorMapper) failure(err error) error {
	if e.halted != nil {
		return e.halted
	}
	// errors.As would unwrap the Exception, and read properties of the guest's objects. Therefore,
	// it is not used here.
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
	panic(err) // goja is not known to return other kinds of errors
}

// thrown returns the fault for a value that a guest threw and did not catch. The argument "frames"
// is the stack of the throw, if it is known.
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
		// An error is often created at one position and thrown later at another position. The first
		// of these positions is more useful.
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

// describe returns a message for a value that a guest threw. It runs guest code.
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
