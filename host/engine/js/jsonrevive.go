package js

import (
	"strconv"

	"github.com/dop251/goja"
)

// revive does for a value that goja's JSON.parse cannot read what that does with others: it calls the reviver of JSON.parse for a member of holder, from the inside out, and returns what it answers.
// It runs guest code.
func revive(r *realm, reviver, holder *goja.Object, key string, depth int) goja.Value {
	if depth > maxParseNesting { // a reviver may replace what it is given
		panic(r.newError("RangeError", "JSON.parse: what the reviver made is nested too deep"))
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
