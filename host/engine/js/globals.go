package js

import (
	"github.com/dop251/goja"
)

// lazyGlobals makes the globals that goja lacks. Most tools use few of them, so each is made when it is first
// read. It is filled in by init, since the functions refer to it.
var lazyGlobals map[string]func(r *run) goja.Value

func init() {
	lazyGlobals = map[string]func(*run) goja.Value{
		"memory":            func(r *run) goja.Value { return r.memory.object() },
		"console":           func(r *run) goja.Value { return r.console.object() },
		"env":               (*run).makeEnv,
		"global":            func(r *run) goja.Value { return r.realm.vm.GlobalObject() },
		"MemoryAccessError": func(r *run) goja.Value { return r.prelude.memoryAccessError() },
		"setTimeout":        func(r *run) goja.Value { return r.realm.native("setTimeout", r.loop.setTimeout) },
		"setInterval":       func(r *run) goja.Value { return r.realm.native("setInterval", r.loop.setInterval) },
		"setImmediate":      func(r *run) goja.Value { return r.realm.native("setImmediate", r.loop.setImmediate) },
		"clearTimeout":      func(r *run) goja.Value { return r.realm.native("clearTimeout", r.loop.clearTimer) },
		"clearInterval":     func(r *run) goja.Value { return r.realm.native("clearInterval", r.loop.clearTimer) },
		"clearImmediate":    func(r *run) goja.Value { return r.realm.native("clearImmediate", r.loop.clearTimer) },
		"Intl":              func(r *run) goja.Value { return (&intlGlobal{realm: &r.realm}).object() },
		"performance":       (*run).makePerformance,
		// What a tool gets for require("crypto") and its like.
		"node:buffer":  (*run).makeNodeBuffer,
		"node:crypto":  func(r *run) goja.Value { return r.webModule("nodecrypto.js") },
		"node:process": func(r *run) goja.Value { return r.webModule("process.js").Get("process") },
		"node:util":    func(r *run) goja.Value { return r.webModule("util.js") },
	}
	for module, names := range webModules {
		for _, name := range names {
			lazyGlobals[name] = func(r *run) goja.Value { return r.webModule(module).Get(name) }
		}
	}
}

// globals is the prototype of a guest's global object. As an object whose members Go answers it costs a run
// nothing but its making, where defining each global, even as an accessor, costs more than the rest of a run.
type globals struct{ run *run }

var _ goja.DynamicObject = (*globals)(nil)

func (r *run) installGlobals() {
	proto := r.realm.vm.NewDynamicObject(&globals{r})
	if err := r.realm.vm.GlobalObject().SetPrototype(proto); err != nil {
		panic(err)
	}
}

// Get answers a global, making it when it is first asked for.
func (g *globals) Get(key string) goja.Value {
	if value, ok := g.run.globals[key]; ok {
		return value
	}
	create, ok := lazyGlobals[key]
	if !ok {
		return nil
	}
	g.run.realm.enter()
	defer g.run.realm.leave()
	value := create(g.run)
	if g.run.globals == nil {
		g.run.globals = make(map[string]goja.Value)
	}
	g.run.globals[key] = value
	return value
}

// Has reports whether there is such a global. An assignment to one makes the guest's own, which hides ours.
func (g *globals) Has(key string) bool {
	_, ok := lazyGlobals[key]
	return ok
}

// Set refuses to change the prototype itself.
func (g *globals) Set(string, goja.Value) bool { return false }

// Delete refuses to change the prototype itself.
func (g *globals) Delete(key string) bool { return !g.Has(key) }

// Keys answers none: like the globals of the language, these are not enumerable.
func (g *globals) Keys() []string { return nil }

// makeEnv is context.env, or an empty object.
func (r *run) makeEnv() goja.Value {
	if env := r.context.Get("env"); env != nil && !goja.IsUndefined(env) && !goja.IsNull(env) {
		return env
	}
	return r.realm.vm.NewObject()
}
