package js

import (
	"slices"

	"github.com/dop251/goja"
)

// lazyObject is an object of the engine. Each of its members is created when the guest reads it for
// the first time. Defining a member is expensive. A guest seldom needs all members of an object.
// The guest can change a lazyObject like a plain object. It cannot freeze a lazyObject, because
// goja keeps dynamic objects extensible.
type lazyObject struct {
	names   []string // in order
	members map[string]func() goja.Value
	made    map[string]goja.Value
}

var _ goja.DynamicObject = (*lazyObject)(nil)

func (r *realm) lazyObject(names []string, members map[string]func() goja.Value) *goja.Object {
	return r.vm.NewDynamicObject(&lazyObject{names: names, members: members})
}

// guestObject returns an object for use by the guest. If the tool can freeze this object, it is a
// plain object, otherwise a lazyObject.
func (r *realm) guestObject(names []string, members map[string]func() goja.Value) *goja.Object {
	if !r.freezes {
		return r.lazyObject(names, members)
	}
	object := r.vm.NewObject()
	for _, name := range names {
		define(object, name, members[name]())
	}
	return object
}

// Get returns a member.
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

// Has reports whether the object has the given member.
func (o *lazyObject) Has(key string) bool {
	if _, ok := o.made[key]; ok {
		return true
	}
	_, ok := o.members[key]
	return ok
}

// Set replaces a member, or adds a member that does not exist.
func (o *lazyObject) Set(key string, value goja.Value) bool {
	has := o.Has(key)
	if value == nil { // the definition contains no value
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

// Keys returns the names of all members of the object. The names are a copy. While goja iterates
// over them, guest code can delete members.
func (o *lazyObject) Keys() []string { return slices.Clone(o.names) }

// hostObject returns an object whose members are native functions.
func (r *realm) hostObject(functions map[string]nativeFunc) *goja.Object {
	members := make(map[string]func() goja.Value, len(functions))
	for name, function := range functions {
		members[name] = func() goja.Value { return r.native(name, function) }
	}
	return r.lazyObject(nil, members) // the prelude never lists the names of the members
}
