package js

import (
	"github.com/dop251/goja"

	"github.com/toolrun/toolrun/internal/lazyregexp"
)

// accessorNames matches the names of functions that goja does not have. They are legacy getter and
// setter functions, such as __defineGetter__.
var accessorNames = lazyregexp.New(`__(?:define|lookup)[GS]etter__`)

// addAccessors adds four functions to Object.prototype: __defineGetter__, __defineSetter__,
// __lookupGetter__ and __lookupSetter__.
func addAccessors(r *realm) {
	add, err := r.vm.RunProgram(accessors())
	must(err)
	r.call(add.(*goja.Object), goja.Undefined())
}

var accessors = lazyProgram("toolrun:accessors", `(function () {
  "use strict";
  const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf, prototype } = Object, toObject = Object, { ownKeys } = Reflect;
  const object = (value, name) => {
    if (value === undefined || value === null) throw new TypeError("Object.prototype." + name + " called on null or undefined");
    return toObject(value);
  };
  const key = (name) => typeof name === "symbol" ? name : ownKeys({ __proto__: null, [name]: 0 })[0];
  const define = (target, name, field, f) => {
    if (typeof f !== "function") throw new TypeError("Object.prototype.__define" + (field === "get" ? "G" : "S") + "etter__: Expecting function");
    defineProperty(target, name, { __proto__: null, [field]: f, enumerable: true, configurable: true });
  };
  const lookup = (at, name, field) => {
    for (name = key(name); at !== null; at = getPrototypeOf(at)) {
      const found = getOwnPropertyDescriptor(at, name);
      if (found !== undefined) return found[field];
    }
  };
  const methods = {
    __defineGetter__(name, f) { define(object(this, "__defineGetter__"), name, "get", f) },
    __defineSetter__(name, f) { define(object(this, "__defineSetter__"), name, "set", f) },
    __lookupGetter__(name) { return lookup(object(this, "__lookupGetter__"), name, "get") },
    __lookupSetter__(name) { return lookup(object(this, "__lookupSetter__"), name, "set") },
  };
  for (const name of ownKeys(methods)) {
    defineProperty(prototype, name, { __proto__: null, value: methods[name], writable: true, enumerable: false, configurable: true });
  }
})`, false)
