package js

import (
	"github.com/dop251/goja"
)

// patch changes the runtime. It applies only the patches that the program needs.
func (r *run) patch() {
	f := &r.program.features
	if f.rejects {
		r.cleaner.wrapThen()
	}
	if f.proxies {
		(&proxyPatch{&r.realm}).install()
	}
	if f.regexps {
		r.regexps.install()
	}
	if f.typed {
		wrapTypedFrom(&r.realm)
	}
	if f.captures {
		addCapture(&r.realm)
	}
	if f.accesses {
		addAccessors(&r.realm)
	}
	if len(f.maths) > 0 {
		replaceMath(&r.realm, f.maths)
	}
}

// wrapTypedFrom makes TypedArray.from accept a string, as in Uint8Array.from("123", Number). goja
// accepts only an object.
func wrapTypedFrom(r *realm) {
	shared := r.vm.GlobalObject().Get("Uint8Array").(*goja.Object).Prototype()
	native := shared.Get("from").(*goja.Object)
	from := r.native("from", func(call goja.FunctionCall) goja.Value {
		arguments := append([]goja.Value{}, call.Arguments...)
		if len(arguments) > 0 && !isUndefined(arguments[0]) && !goja.IsNull(arguments[0]) {
			arguments[0] = arguments[0].ToObject(r.vm)
		}
		return r.call(native, call.This, arguments...)
	})
	must(from.DefineDataProperty("length", r.vm.ToValue(1), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	must(shared.DefineDataProperty("from", from, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
}

// addCapture adds Error.captureStackTrace, which sets the property "stack" of an object.
// Error.captureStackTrace ignores an error, because every error gets a stack when it is created.
func addCapture(r *realm) {
	class := r.vm.GlobalObject().Get("Error").(*goja.Object)
	capture := r.native("captureStackTrace", func(call goja.FunctionCall) goja.Value {
		object, ok := call.Argument(0).(*goja.Object)
		if !ok {
			panic(r.vm.NewTypeError("Invalid argument"))
		}
		if object.ClassName() != "Error" {
			stack := r.vm.NewTypeError().Get("stack")
			must(object.DefineDataProperty("stack", stack, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
		}
		return goja.Undefined()
	})
	must(class.DefineDataProperty("captureStackTrace", capture, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
}
