package js

import (
	"slices"

	"github.com/dop251/goja"
)

// lazyObject is an object of ours whose members are made when the guest first names them: to define a member
// costs a run more than it seems, and a guest seldom needs them all. The guest can change it as it can a plain
// object, but cannot freeze it: goja keeps such objects open to additions.
type lazyObject struct {
	names   []string // in their order
	members map[string]func() goja.Value
	made    map[string]goja.Value
}

var _ goja.DynamicObject = (*lazyObject)(nil)

func (r *realm) lazyObject(names []string, members map[string]func() goja.Value) *goja.Object {
	return r.vm.NewDynamicObject(&lazyObject{names: names, members: members})
}

// guestObject is an object of ours that the guest gets: a lazy one, unless the tool may want to freeze it.
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

// hostObject makes an object of natives.
func (r *realm) hostObject(functions map[string]nativeFunc) *goja.Object {
	members := make(map[string]func() goja.Value, len(functions))
	for name, function := range functions {
		members[name] = func() goja.Value { return r.native(name, function) }
	}
	return r.lazyObject(nil, members) // its users know the names
}
