package js

import (
	"slices"

	"github.com/dop251/goja"
)

// lazyGlobals makes the globals that goja lacks. Most tools use few of them, so each is made when it is first
// read. It is filled in by init, since the functions refer to it.
var lazyGlobals map[string]func(r *run) goja.Value

func init() {
	lazyGlobals = map[string]func(*run) goja.Value{
		"memory":            (*run).makeMemory,
		"console":           (*run).makeConsole,
		"env":               (*run).makeEnv,
		"global":            func(r *run) goja.Value { return r.vm.GlobalObject() },
		"MemoryAccessError": func(r *run) goja.Value { return r.memoryAccessError() },
		"setTimeout":        func(r *run) goja.Value { return r.native("setTimeout", r.setTimeout) },
		"setInterval":       func(r *run) goja.Value { return r.native("setInterval", r.setInterval) },
		"setImmediate":      func(r *run) goja.Value { return r.native("setImmediate", r.setImmediate) },
		"clearTimeout":      func(r *run) goja.Value { return r.native("clearTimeout", r.clearTimer) },
		"clearInterval":     func(r *run) goja.Value { return r.native("clearInterval", r.clearTimer) },
		"clearImmediate":    func(r *run) goja.Value { return r.native("clearImmediate", r.clearTimer) },
		"Intl":              (*run).makeIntl,
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
	proto := r.vm.NewDynamicObject(&globals{r})
	if err := r.vm.GlobalObject().SetPrototype(proto); err != nil {
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
	g.run.enter()
	defer g.run.leave()
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

// lazyObject is an object of ours whose members are made when the guest first names them: to define a member
// costs a run more than it seems, and a guest seldom needs them all. The guest can change it as it can a plain
// object, but cannot freeze it: goja keeps such objects open to additions.
type lazyObject struct {
	names   []string // in their order
	members map[string]func() goja.Value
	made    map[string]goja.Value
}

var _ goja.DynamicObject = (*lazyObject)(nil)

func (r *run) lazyObject(names []string, members map[string]func() goja.Value) *goja.Object {
	return r.vm.NewDynamicObject(&lazyObject{names: names, members: members})
}

// guestObject is an object of ours that the guest gets: a lazy one, unless the tool may want to freeze it.
func (r *run) guestObject(names []string, members map[string]func() goja.Value) *goja.Object {
	if !r.program.freezes {
		return r.lazyObject(names, members)
	}
	object := r.vm.NewObject()
	for _, name := range names {
		r.define(object, name, members[name]())
	}
	return object
}

// Get answers a member.
func (o *lazyObject) Get(key string) goja.Value {
	if value, ok := o.made[key]; ok {
		return value
	}
	create, ok := o.members[key]
	if !ok {
		return nil
	}
	value := create()
	o.keep(key, value)
	return value
}

func (o *lazyObject) keep(key string, value goja.Value) {
	if o.made == nil {
		o.made = make(map[string]goja.Value)
	}
	o.made[key] = value
}

// Has reports whether there is such a member.
func (o *lazyObject) Has(key string) bool {
	if _, ok := o.made[key]; ok {
		return true
	}
	_, ok := o.members[key]
	return ok
}

// Set puts a value of the guest's in the place of ours, or adds it.
func (o *lazyObject) Set(key string, value goja.Value) bool {
	has := o.Has(key)
	if value == nil { // a definition that names no value
		if has {
			return true
		}
		value = goja.Undefined()
	}
	if !has {
		o.names = append(o.names, key)
	}
	o.keep(key, value)
	return true
}

// Delete removes a member.
func (o *lazyObject) Delete(key string) bool {
	if o.Has(key) {
		delete(o.made, key)
		delete(o.members, key)
		o.names = slices.DeleteFunc(o.names, func(name string) bool { return name == key })
	}
	return true
}

// Keys answers the names of all members. It is a copy: goja goes through it while guest code may delete some.
func (o *lazyObject) Keys() []string { return slices.Clone(o.names) }

// makeEnv is context.env, or an empty object.
func (r *run) makeEnv() goja.Value {
	if env := r.context.Get("env"); env != nil && !goja.IsUndefined(env) && !goja.IsNull(env) {
		return env
	}
	return r.vm.NewObject()
}

// native makes a function of the guest's from one of ours. Its name is what stack traces show.
func (r *run) native(name string, f nativeFunc) *goja.Object {
	counted := func(call goja.FunctionCall) goja.Value {
		r.enter()
		defer r.leave()
		return f(call)
	}
	function := r.vm.ToValue(counted).(*goja.Object)
	_ = function.DefineDataProperty("name", r.vm.ToValue(name), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	return function
}

// define gives an object of ours a member. Unlike an assignment it cannot end in a setter that a guest put on
// a prototype.
func (r *run) define(o *goja.Object, name string, value goja.Value) {
	if err := o.DefineDataProperty(name, value, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE); err != nil {
		panic(err)
	}
}
