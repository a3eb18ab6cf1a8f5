package js

import (
	"context"
	"reflect"
	"time"

	"github.com/dop251/goja"

	"github.com/toolrun/toolrun/host/engine"
)

// realm is the JavaScript environment of one run. realm contains the runtime, the runtime's
// original intrinsics, the clock and the limits. Only the run's goroutine may use a realm. The only
// exception is the runtime's method Interrupt, which other goroutines can call. realm contains the
// context of the run, because goja does not pass a context to native functions.
type realm struct {
	ctx     context.Context
	vm      *goja.Runtime
	limits  engine.Limits
	start   time.Time // of the run
	base    time.Time // the first time that the guest's clock shows; zero selects the system clock
	frozen  bool      // true if the guest's clock always shows base
	freezes bool      // true if the tool may freeze objects; lazy objects cannot be frozen

	parse       nativeFunc   // goja's JSON.parse; see nativeParse
	stringify   nativeFunc   // goja's JSON.stringify; nil if the tool's code does not name it
	objectProto *goja.Object // Object.prototype

	depth  int   // the nesting depth of native calls
	halted error // the host's error that ended the run; the guest cannot see the error
}

type nativeFunc = func(goja.FunctionCall) goja.Value

var nativeType = reflect.TypeFor[nativeFunc]()

// The method "now" returns the time of the guest's clock.
func (r *realm) now() time.Time {
	if r.base.IsZero() {
		return time.Now()
	}
	if r.frozen {
		return r.base
	}
	return r.base.Add(time.Since(r.start))
}

// elapsed is a native function that returns the milliseconds since the run began.
func (r *realm) elapsed(goja.FunctionCall) goja.Value {
	return r.vm.ToValue(float64(time.Since(r.start).Microseconds()) / 1000)
}

// try calls f and returns the error that ended f. f can run guest code, such as getters. try
// recovers only exceptions of the guest, stack overflows and interrupts.
func (r *realm) try(f func()) (err error) {
	defer func() {
		switch x := recover().(type) {
		case nil:
		case *goja.InterruptedError:
			err = x
		case *goja.StackOverflowError:
			err = x
		default:
			panic(x)
		}
	}()
	if ex := r.vm.Try(f); ex != nil {
		return ex
	}
	return nil
}

// enter begins a native call that can run guest code. The method "leave" ends the call. goja limits
// only the number of JavaScript frames, and native functions have no JavaScript frames. Therefore
// enter limits the depth of native calls, because a stack overflow ends the process.
func (r *realm) enter() {
	if r.depth >= r.limits.CallDepth {
		panic(&goja.StackOverflowError{})
	}
	r.depth++
}

func (r *realm) leave() { r.depth-- }

// halt ends the run with an error of the host. The guest's catch and finally clauses do not run.
func (r *realm) halt(err error) {
	if r.halted == nil {
		r.halted = err
	}
	r.vm.Interrupt(nil)
}

// call calls a function of the guest. The caller of the method must be within a protected call. If
// the function throws an exception, the method panics with the exception. The method calls native
// functions without goja.Callable, because goja.Callable can run pending jobs before the caller has
// finished.
func (r *realm) call(function *goja.Object, this goja.Value, arguments ...goja.Value) goja.Value {
	if function.ExportType() == nativeType {
		return function.Export().(nativeFunc)(goja.FunctionCall{This: this, Arguments: arguments})
	}
	callable, _ := goja.AssertFunction(function)
	value, err := callable(this, arguments...)
	if err != nil {
		panic(err)
	}
	return value
}

func (r *realm) construct(construct goja.Constructor, newTarget *goja.Object, arguments []goja.Value) *goja.Object {
	r.enter()
	defer r.leave()
	object, err := construct(newTarget, arguments...)
	if err != nil {
		panic(err)
	}
	return object
}

// native returns a guest function that calls f. The name of the function appears in stack traces.
func (r *realm) native(name string, f nativeFunc) *goja.Object {
	counted := func(call goja.FunctionCall) goja.Value {
		r.enter()
		defer r.leave()
		return f(call)
	}
	function := r.vm.ToValue(counted).(*goja.Object)
	_ = function.DefineDataProperty("name", r.vm.ToValue(name), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	return function
}

// newError creates a built-in error. newError reads the global with the name of the error class. If
// the guest has defined this global as a getter, newError runs guest code.
func (r *realm) newError(class, message string) *goja.Object {
	r.enter()
	defer r.leave()
	object, err := r.vm.New(r.vm.GlobalObject().Get(class), r.vm.ToValue(message))
	must(err)
	return object
}

// must panics with err if err is not nil. Any function of goja can return an error after the host
// has stopped the run.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

func setPrototype(object, prototype *goja.Object) { must(object.SetPrototype(prototype)) }

// define defines a member of an object that the engine created. Unlike an assignment, the function
// cannot call a setter that a guest added to a prototype.
func define(o *goja.Object, name string, value goja.Value) {
	if err := o.DefineDataProperty(name, value, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE); err != nil {
		panic(err)
	}
}

// defineHidden defines a member that is not enumerable, like built-in members.
func defineHidden(o *goja.Object, name string, value goja.Value) {
	must(o.DefineDataProperty(name, value, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
}
