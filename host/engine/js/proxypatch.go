package js

import (
	"strconv"

	"github.com/dop251/goja"
)

// The traps "apply" and "construct" receive an array from goja that shares memory with goja's
// stack. A guest that keeps the array can see and change the local variables of other calls.
// Therefore, if the target of a proxy is a function, the guest's constructor Proxy inserts our own
// handler, which passes copies to the traps. goja never calls "apply" and "construct" for proxies
// of other objects, so these proxies need no handler of ours.

// proxyPatch is the guest's constructor Proxy.
type proxyPatch struct{ *realm }

// install replaces the constructor Proxy.
func (p *proxyPatch) install() {
	global := p.vm.GlobalObject()
	native := global.Get("Proxy").(*goja.Object)
	construct, _ := goja.AssertConstructor(native)
	revocable := native.Get("revocable").(*goja.Object)
	shimmed := p.native("revocable", func(call goja.FunctionCall) goja.Value {
		return p.call(revocable, call.This, p.shimmed(call.Arguments)...)
	})
	must(shimmed.DefineDataProperty("length", p.vm.ToValue(2), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	must(native.DefineDataProperty("revocable", shimmed, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	// The replacement is a proxy of the original constructor. Like the original, the proxy has no
	// prototype, and its name and length are the same.
	wrapped := p.vm.NewProxy(native, &goja.ProxyTrapConfig{
		Construct: func(_ *goja.Object, arguments []goja.Value, newTarget *goja.Object) *goja.Object {
			return p.construct(construct, newTarget, p.shimmed(arguments))
		},
	})
	must(global.DefineDataProperty("Proxy", p.vm.ToValue(wrapped), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
}

// shimmed returns the arguments for the constructor Proxy: target and handler. If the target can be
// called, shimmed replaces the handler with our own handler.
func (p *proxyPatch) shimmed(arguments []goja.Value) []goja.Value {
	if len(arguments) < 2 || !isCallable(arguments[0]) {
		return arguments
	}
	handler, ok := arguments[1].(*goja.Object)
	if !ok || isRevoked(handler) { // any use of a revoked proxy throws an error
		return arguments
	}
	// The inserted handler is a proxy whose target is an empty object. A trap therefore cannot
	// conflict with members of the target.
	shim := p.vm.NewProxy(p.vm.CreateObject(nil), &goja.ProxyTrapConfig{
		Get: func(_ *goja.Object, name string, _ goja.Value) goja.Value { return p.trapOf(handler, name) },
	})
	return []goja.Value{arguments[0], p.vm.ToValue(shim)}
}

func isRevoked(o *goja.Object) bool {
	return o.ExportType() == proxyType && o.Export().(goja.Proxy).Handler() == nil
}

// listOfTrap contains the index of the argument list among the arguments of each trap.
var listOfTrap = map[string]int{"apply": 2, "construct": 1}

// trapOf wraps a trap of a handler in a function that copies the argument list.
func (p *proxyPatch) trapOf(handler *goja.Object, name string) goja.Value {
	p.enter()
	defer p.leave()
	value := handler.Get(name)
	trap, ok := value.(*goja.Object)
	if !ok || !isCallable(trap) {
		return orUndefined(value)
	}
	list := listOfTrap[name]
	return p.vm.ToValue(func(call goja.FunctionCall) goja.Value {
		p.enter()
		defer p.leave()
		arguments := make([]goja.Value, len(call.Arguments)) // Arguments is part of goja's stack
		copy(arguments, call.Arguments)
		if list > 0 && list < len(arguments) {
			arguments[list] = p.copyOfList(arguments[list].(*goja.Object))
		}
		return p.call(trap, handler, arguments...)
	})
}

func (p *proxyPatch) copyOfList(list *goja.Object) goja.Value {
	items := make([]any, list.Get("length").ToInteger())
	for i := range items {
		items[i] = list.Get(strconv.Itoa(i))
	}
	return p.vm.NewArray(items...)
}
