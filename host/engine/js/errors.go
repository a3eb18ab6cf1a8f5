package js

import (
	"github.com/dop251/goja"

	"github.com/toolrun/toolrun/abi"
)

// newMemoryAccessError makes the error that stands for a fault, as the class would. It runs no code of the guest's,
// whatever the guest has made of Error, of prototypes or of the class: none of that may cost a run its fault.
func (r *run) newMemoryAccessError(f *abi.Fault) *goja.Object {
	object := r.bareError(r.vm.ToValue(f.Message))
	r.setPrototype(object, r.memoryAccessError().Get("prototype").(*goja.Object))
	r.define(object, "code", r.textOrUndefined(string(f.Code)))
	r.define(object, "op", r.textOrUndefined(f.Op))
	r.define(object, "store", r.textOrUndefined(f.Store))
	r.define(object, "item", r.textOrUndefined(f.Item))
	r.define(object, "violations", r.listOf(f.Violations))
	r.define(object, "hint", r.textOrUndefined(f.Hint))
	return object
}

func (r *run) textOrUndefined(text string) goja.Value {
	if text == "" {
		return goja.Undefined()
	}
	return r.vm.ToValue(text)
}

func (r *run) listOf(violations []abi.Violation) goja.Value {
	if len(violations) == 0 {
		return r.vm.NewArray()
	}
	return r.mustParse(violations)
}

// memoryAccessError is the class. It is made when it is first needed, when the guest may have replaced Error already.
func (r *run) memoryAccessError() *goja.Object {
	return r.module(errorsModule).Get("MemoryAccessError").(*goja.Object)
}

// makeErrorBase makes what the class extends in the place of Error. The guest may have replaced its global by now, and to
// take goja's own before it does would slow every run; but the errors that goja makes are known to descend from it.
func (r *run) makeErrorBase() goja.Value {
	base := r.vm.ToValue(func(call goja.ConstructorCall) *goja.Object {
		r.enter()
		defer r.leave()
		object := r.bareError(call.Argument(0))
		r.setPrototype(object, call.This.Prototype())
		return object
	}).(*goja.Object)
	builtin := r.vm.NewTypeError().Prototype().Prototype()
	prototype := base.Get("prototype").(*goja.Object)
	r.setPrototype(prototype, builtin)
	// The class sets the name of its prototype, which it cannot where the next one that has a name is frozen.
	for object, flag := range map[*goja.Object]goja.Flag{base: goja.FLAG_FALSE, prototype: goja.FLAG_TRUE} {
		must(object.DefineDataProperty("name", r.vm.ToValue("Error"), flag, goja.FLAG_TRUE, goja.FLAG_FALSE))
	}
	return base
}

// bareError makes an error with a message as the constructor of Error does, but with another prototype.
func (r *run) bareError(message goja.Value) *goja.Object {
	object := r.vm.NewTypeError()
	if isUndefined(message) {
		must(object.Delete("message"))
		return object
	}
	must(object.DefineDataProperty("message", message.ToString(), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	return object
}

func (r *run) setPrototype(object, prototype *goja.Object) { must(object.SetPrototype(prototype)) }

// must passes on an error that goja returns where something stops the run.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// newError makes one of the built-in errors. It runs guest code where the guest has a getter of that name.
func (r *run) newError(class, message string) *goja.Object {
	r.enter()
	defer r.leave()
	object, err := r.vm.New(r.vm.GlobalObject().Get(class), r.vm.ToValue(message))
	must(err)
	return object
}
