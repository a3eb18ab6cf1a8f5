package js

import (
	"github.com/dop251/goja"
)

// wrapThen changes promises so that rejection handlers receive cleaned errors.
func (c *errorCleaner) wrapThen() {
	prototype := c.vm.GlobalObject().Get("Promise").(*goja.Object).Get("prototype").(*goja.Object)
	native := prototype.Get("then").(*goja.Object)
	then := c.native("then", func(call goja.FunctionCall) goja.Value {
		if !isCallable(call.Argument(1)) {
			return c.call(native, call.This, call.Arguments...)
		}
		return c.call(native, call.This, call.Argument(0), c.cleaned(call.Argument(1)))
	})
	must(then.DefineDataProperty("length", c.vm.ToValue(2), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	must(prototype.DefineDataProperty("then", then, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
}

// cleaning wraps a rejection handler. cleaning is written in JavaScript, because a call from Go
// would run pending jobs before the current job has finished.
var cleaning = lazyProgram("toolrun:rejection", `(function (clean) {
	return (handler) => (reason) => { clean(reason); return handler(reason); };
})`, false)

func (c *errorCleaner) cleaned(handler goja.Value) goja.Value {
	if c.handler == nil {
		maker, err := c.vm.RunProgram(cleaning())
		must(err)
		c.handler = c.call(maker.(*goja.Object), goja.Undefined(), c.function()).(*goja.Object)
	}
	return c.call(c.handler, goja.Undefined(), handler)
}
