package js

import (
	"github.com/dop251/goja"

	"github.com/toolrun/toolrun/abi"
)

// lazyGlobals contains constructors for the globals of the engine that goja does not have. Most
// tools use only a few of these globals. Therefore, each global is created when a tool reads it for
// the first time. Functions in lazyGlobals refer to lazyGlobals. Therefore, it is initialized in
// the function "init".
var lazyGlobals map[string]func(r *run) goja.Value

func init() {
	lazyGlobals = map[string]func(*run) goja.Value{
		abi.MemoryModule:    func(r *run) goja.Value { return r.memory.object(abi.MemoryModule) },
		abi.ModelModule:     func(r *run) goja.Value { return r.memory.object(abi.ModelModule) },
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
		// The members below are returned by require("crypto"), and by require with the names of
		// other Node.js modules.
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

// globals is the prototype of a guest's global object. It is a dynamic object, so that each run
// creates only one object. Defining each global would cost more than the rest of a run, even if the
// global were an accessor.
type globals struct{ run *run }

var _ goja.DynamicObject = (*globals)(nil)

func (r *run) installGlobals() {
	proto := r.realm.vm.NewDynamicObject(&globals{r})
	if err := r.realm.vm.GlobalObject().SetPrototype(proto); err != nil {
		panic(err)
	}
}

// Get returns a global. If the global is read for the first time, Get creates it.
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

// Has reports whether the engine has a global that has the given name. A guest can assign a value
// to a global of the engine. This creates a new global, which hides the engine's global.
func (g *globals) Has(key string) bool {
	_, ok := lazyGlobals[key]
	return ok
}

// Set rejects any change of the prototype.
func (g *globals) Set(string, goja.Value) bool { return false }

// Delete rejects any change of the prototype.
func (g *globals) Delete(key string) bool { return !g.Has(key) }

// Keys returns no names. The engine's globals are not enumerable, and built-in globals are not
// enumerable either.
func (g *globals) Keys() []string { return nil }

// makeEnv returns context.env. If context.env does not exist, it returns an empty object.
func (r *run) makeEnv() goja.Value {
	if env := r.context.Get("env"); env != nil && !goja.IsUndefined(env) && !goja.IsNull(env) {
		return env
	}
	return r.realm.vm.NewObject()
}
