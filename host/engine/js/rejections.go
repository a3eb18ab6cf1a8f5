package js

import (
	"github.com/dop251/goja"
)

// wrapThen makes handlers of rejections get what catch clauses get: an error without what goja took from Go.
func (r *run) wrapThen() {
	prototype := r.vm.GlobalObject().Get("Promise").(*goja.Object).Get("prototype").(*goja.Object)
	native := prototype.Get("then").(*goja.Object)
	then := r.native("then", func(call goja.FunctionCall) goja.Value {
		if !isCallable(call.Argument(1)) {
			return r.call(native, call.This, call.Arguments...)
		}
		return r.call(native, call.This, call.Argument(0), r.cleaned(call.Argument(1)))
	})
	must(then.DefineDataProperty("length", r.vm.ToValue(2), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	must(prototype.DefineDataProperty("then", then, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
}

// cleaning wraps a handler. It is JavaScript, since a call from Go would run the jobs that wait in the midst of one.
var cleaning = lazyProgram("toolrun:rejection", `(function (clean) {
	return (handler) => (reason) => { clean(reason); return handler(reason); };
})`, false)

func (r *run) cleaned(handler goja.Value) goja.Value {
	if r.cleanHandler == nil {
		maker, err := r.vm.RunProgram(cleaning())
		must(err)
		r.cleanHandler = r.call(maker.(*goja.Object), goja.Undefined(), r.makeCleaner()).(*goja.Object)
	}
	return r.call(r.cleanHandler, goja.Undefined(), handler)
}
