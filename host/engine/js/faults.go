package js

import (
	"github.com/dop251/goja"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
)

// maxMessageBytes bounds what a guest's error may say.
const maxMessageBytes = 4 << 10

// issued is a fault that was raised in the guest, and where.
type issued struct {
	fault *abi.Fault
	trace trace
}

// raise throws a fault in the guest, as a MemoryAccessError. Only the object made here stands for the fault: a
// guest can make an error that looks the same in every property.
func (r *run) raise(f *abi.Fault) {
	object := r.newMemoryAccessError(f)
	if r.issued == nil {
		r.issued = make(map[*goja.Object]issued)
	}
	r.issued[object] = issued{fault: f, trace: r.traceOf(r.vm.CaptureCallStack(0, nil))}
	panic(object)
}

// failure turns what ended a call into the runtime into what Run returns.
func (r *run) failure(err error) error {
	if r.halted != nil {
		return r.halted
	}
	// Not errors.As: an Exception unwraps to what was thrown, by asking the guest's own objects.
	switch ended := err.(type) {
	case *goja.InterruptedError:
		return engine.EndOf(r.ctx)
	case *goja.StackOverflowError:
		return r.traceOf(ended.Stack()).addTo(abi.Faultf(abi.StackLimit,
			"calls are nested deeper than %d", r.limits.CallDepth).
			WithHint("a function that calls itself may lack the condition that ends it"))
	case *goja.Exception:
		return r.thrown(ended.Value(), ended.Stack())
	}
	panic(err) // an error that goja is not known to return
}

// thrown turns what a guest threw, and did not catch, into a fault. frames are where it was thrown from, if
// that is known.
func (r *run) thrown(value goja.Value, frames []goja.StackFrame) error {
	if object, ok := value.(*goja.Object); ok {
		if from, ok := r.issued[object]; ok {
			return from.trace.addTo(from.fault)
		}
	}
	f := abi.Faultf(abi.ToolError, "")
	where := r.traceOf(frames)
	failed := r.try(func() {
		f.Message = r.describe(value)
		// Where an error was made tells more than where it was thrown again.
		if made := r.traceOfError(value); len(made) > 0 {
			where = made
		}
	})
	if failed != nil {
		if _, ok := failed.(*goja.Exception); !ok {
			return r.failure(failed)
		}
		f.Message = "the tool threw a value that cannot be described"
	}
	f.Message = cleanText(f.Message, r.texts())
	r.advise(f)
	f.Message = cut(f.Message, maxMessageBytes)
	return where.addTo(f)
}

// unhandled reports a promise that was rejected and that nothing handled.
func (r *run) unhandled(p *goja.Promise) error {
	fault, ok := r.thrown(p.Result(), nil).(*abi.Fault)
	if !ok {
		return r.halted
	}
	copied := *fault
	if copied.Hint == "" {
		copied.Hint = "a promise was rejected and nothing handled it; is an await missing?"
	}
	return &copied
}

// describe says in words what a guest threw. It runs guest code.
func (r *run) describe(value goja.Value) string {
	switch v := value.(type) {
	case *goja.Symbol:
		return "the tool threw a symbol"
	case goja.String:
		return v.String()
	case *goja.Object:
		return r.describeObject(v)
	}
	if isUndefined(value) {
		return "the tool threw undefined"
	}
	return "the tool threw " + value.String()
}

func (r *run) describeObject(o *goja.Object) string {
	message, hasMessage := o.Get("message").(goja.String)
	if o.ClassName() != "Error" {
		if hasMessage {
			return message.String()
		}
		text, refused := r.encode("value", o, bounds{nesting: 10, bytes: 1 << 10})
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
