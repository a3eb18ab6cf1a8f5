package js

import (
	"context"
	"reflect"
	"time"

	"github.com/dop251/goja"

	"github.com/toolrun/toolrun/host/engine"
)

// realm is the JavaScript world of one run: the runtime, the intrinsics that were taken before guest code could change
// them, the clock and the limits. It belongs to the goroutine of the run; only Interrupt of its runtime is called from
// elsewhere. It holds the context of the run, because the functions that a guest calls get none.
type realm struct {
	ctx     context.Context
	vm      *goja.Runtime
	limits  engine.Limits
	start   time.Time // of the run
	base    time.Time // where the guest's clock starts; zero for the time of the system
	freezes bool      // the tool may freeze objects, so lazy ones do not serve it

	parse       nativeFunc   // goja's JSON.parse; see nativeParse
	stringify   nativeFunc   // goja's JSON.stringify; nil for a tool that does not name it
	objectProto *goja.Object // Object.prototype

	depth  int   // how many calls of ours are under way, one within the other
	halted error // what the host ended the run with; it is not the guest's to see
}

type nativeFunc = func(goja.FunctionCall) goja.Value

var nativeType = reflect.TypeFor[nativeFunc]()

// now is the guest's clock. A given time is where it starts from.
func (r *realm) now() time.Time {
	if r.base.IsZero() {
		return time.Now()
	}
	return r.base.Add(time.Since(r.start))
}

// elapsed is the time since the run began, in milliseconds.
func (r *realm) elapsed(goja.FunctionCall) goja.Value {
	return r.vm.ToValue(float64(time.Since(r.start).Microseconds()) / 1000)
}

// try runs f, which may run guest code such as getters, and returns what ended it. A panic that is neither the
// guest's nor a stop is passed on.
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

// enter begins a call of ours that may run guest code, and leave ends it. goja counts the frames of JavaScript
// alone: a getter or a method that is a function of ours makes none, and nothing recovers from an overflow of
// the stack of the process.
func (r *realm) enter() {
	if r.depth >= r.limits.CallDepth {
		panic(&goja.StackOverflowError{})
	}
	r.depth++
}

func (r *realm) leave() { r.depth-- }

// halt ends the run with an error of the host, at once and past every catch and finally of the guest.
func (r *realm) halt(err error) {
	if r.halted == nil {
		r.halted = err
	}
	r.vm.Interrupt(nil)
}

// call calls a function of the guest's from within a protected call, where what it throws goes on as a panic.
// goja.Callable would, after the last frame, run the jobs that wait, in the middle of what the caller does.
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

// native makes a function of the guest's from one of ours. Its name is what stack traces show.
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

// newError makes one of the built-in errors. It runs guest code where the guest has a getter of that name.
func (r *realm) newError(class, message string) *goja.Object {
	r.enter()
	defer r.leave()
	object, err := r.vm.New(r.vm.GlobalObject().Get(class), r.vm.ToValue(message))
	must(err)
	return object
}

// must passes on an error that goja returns where something stops the run.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

func setPrototype(object, prototype *goja.Object) { must(object.SetPrototype(prototype)) }

// define gives an object of ours a member. Unlike an assignment it cannot end in a setter that a guest put on
// a prototype.
func define(o *goja.Object, name string, value goja.Value) {
	if err := o.DefineDataProperty(name, value, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE); err != nil {
		panic(err)
	}
}

// defineHidden gives an object a member that is not enumerable, as those of the language are.
func defineHidden(o *goja.Object, name string, value goja.Value) {
	must(o.DefineDataProperty(name, value, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
}
