package js

import (
	"strconv"

	"github.com/dop251/goja"
)

// revive applies the reviver of JSON.parse to a member of the object "holder" and returns the
// result. Inner members are processed first. The method is used for values that goja's JSON.parse
// cannot read. It runs guest code.
func revive(r *realm, reviver, holder *goja.Object, key string, depth int) goja.Value {
	if depth > maxParseNesting { // the reviver can add values that are nested deeper
		panic(r.newError("RangeError", "JSON.parse: the reviver's result is nested too deeply"))
	}
	value := holder.Get(key)
	if value == nil {
		value = goja.Undefined()
	}
	if object, ok := value.(*goja.Object); ok {
		for _, name := range reviveKeys(r, object) {
			item := revive(r, reviver, object, name, depth+1)
			if goja.IsUndefined(item) {
				must(object.Delete(name))
				continue
			}
			must(object.DefineDataProperty(name, item, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE))
		}
	}
	return r.call(reviver, holder, r.vm.ToValue(key), value)
}

func reviveKeys(r *realm, o *goja.Object) []string {
	kind, _ := classify(r, o)
	if kind != array {
		return o.Keys()
	}
	keys := make([]string, 0)
	for i := range o.Get("length").ToInteger() {
		keys = append(keys, strconv.FormatInt(i, 10))
	}
	return keys
}
