package js

import (
	"github.com/dop251/goja"

	"github.com/toolrun/toolrun/abi"
)

// newMemoryAccessError returns the guest's error for a fault. The error is equal to an error that
// the class MemoryAccessError creates. Even if the guest has replaced Error, the class or a
// prototype, newMemoryAccessError runs no guest code. Guest code therefore cannot suppress the
// fault.
func (p *prelude) newMemoryAccessError(f *abi.Fault) *goja.Object {
	object := bareError(p.vm, p.vm.ToValue(f.Message))
	setPrototype(object, p.memoryAccessError().Get("prototype").(*goja.Object))
	define(object, "code", textOrUndefined(p.vm, string(f.Code)))
	define(object, "op", textOrUndefined(p.vm, f.Op))
	define(object, "store", textOrUndefined(p.vm, f.Store))
	define(object, "item", textOrUndefined(p.vm, f.Item))
	define(object, "violations", listOf(p.realm, f.Violations))
	define(object, "hint", textOrUndefined(p.vm, f.Hint))
	return object
}

func textOrUndefined(vm *goja.Runtime, text string) goja.Value {
	if text == "" {
		return goja.Undefined()
	}
	return vm.ToValue(text)
}

func listOf(r *realm, violations []abi.Violation) goja.Value {
	if len(violations) == 0 {
		return r.vm.NewArray()
	}
	return mustParse(r, violations)
}

// memoryAccessError returns the class MemoryAccessError. The first call to memoryAccessError
// creates the class. By then, the guest may have replaced Error.
func (p *prelude) memoryAccessError() *goja.Object {
	return p.module(errorsModule).Get("MemoryAccessError").(*goja.Object)
}

// makeErrorBase returns the class from which MemoryAccessError inherits instead of Error. The
// global Error cannot be used, because the guest may have replaced it. A copy of goja's own Error,
// made at the beginning of each run, would slow down every run. makeErrorBase instead takes the
// original prototype from an error that goja creates.
func makeErrorBase(r *realm) goja.Value {
	base := r.vm.ToValue(func(call goja.ConstructorCall) *goja.Object {
		r.enter()
		defer r.leave()
		object := bareError(r.vm, call.Argument(0))
		setPrototype(object, call.This.Prototype())
		return object
	}).(*goja.Object)
	builtin := r.vm.NewTypeError().Prototype().Prototype()
	prototype := base.Get("prototype").(*goja.Object)
	setPrototype(prototype, builtin)
	// The class MemoryAccessError assigns a name to its prototype. The assignment fails if the
	// nearest object in the prototype chain with a property "name" is frozen.
	for object, flag := range map[*goja.Object]goja.Flag{base: goja.FLAG_FALSE, prototype: goja.FLAG_TRUE} {
		must(object.DefineDataProperty("name", r.vm.ToValue("Error"), flag, goja.FLAG_TRUE, goja.FLAG_FALSE))
	}
	return base
}

// bareError returns an error object with a message, which can be undefined. The caller must set the
// prototype of the object.
func bareError(vm *goja.Runtime, message goja.Value) *goja.Object {
	object := vm.NewTypeError()
	if isUndefined(message) {
		must(object.Delete("message"))
		return object
	}
	must(object.DefineDataProperty("message", message.ToString(), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	return object
}
