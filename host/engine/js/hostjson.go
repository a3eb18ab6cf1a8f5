package js

import (
	"encoding/json"
	"errors"

	"github.com/dop251/goja"

	"github.com/toolrun/toolrun/abi"
)

// maxParseNesting is the maximum nesting of a text that is passed to goja's JSON.parse. This
// function is recursive and uses the stack of the process. If the stack overflowed, the process
// would end.
const maxParseNesting = 1000

// replaceJSON replaces JSON.parse and JSON.stringify with functions of the engine. If the tool's
// code does not contain the name JSON.stringify, the argument "stringifies" is false. If a tool
// computes the name JSON.stringify at run time, it gets goja's function.
func replaceJSON(r *realm, stringifies bool) {
	object := r.vm.GlobalObject().Get("JSON").(*goja.Object)
	r.parse = object.Get("parse").Export().(nativeFunc)
	parse := r.native("parse", func(call goja.FunctionCall) goja.Value { return guestParse(r, call) })
	must(object.DefineDataProperty("parse", parse, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	if stringifies {
		r.stringify = object.Get("stringify").Export().(nativeFunc)
		stringify := r.native("stringify", func(call goja.FunctionCall) goja.Value { return guestStringify(r, call) })
		must(stringify.DefineDataProperty("length", r.vm.ToValue(3), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE))
		must(object.DefineDataProperty("stringify", stringify, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	}
}

// nativeParse returns goja's JSON.parse. Most runs do not need this function, so it is looked up
// only on demand. If a guest cannot access the object JSON, it cannot have changed the members of
// this object.
func nativeParse(r *realm) nativeFunc {
	if r.parse == nil {
		r.parse = r.vm.GlobalObject().Get("JSON").(*goja.Object).Get("parse").Export().(nativeFunc)
	}
	return r.parse
}

// parseDocument converts a JSON object to a value of the guest. The host has sent the JSON object.
func parseDocument(r *realm, name string, text json.RawMessage) (goja.Value, error) {
	if len(text) == 0 {
		return r.vm.NewObject(), nil
	}
	value, err := parseJSON(r, text)
	if err == nil {
		if _, ok := value.(*goja.Object); ok {
			return value, nil
		}
		err = errors.New("not a JSON object")
	}
	return nil, abi.Faultf(abi.InputInvalid, "cannot decode the %s: %v", name, err)
}

// parseJSON converts JSON to a value of the guest. The host has sent the JSON. No guest code runs.
func parseJSON(r *realm, text json.RawMessage) (value goja.Value, err error) {
	if checked(text) {
		return readJSON(r, text)
	}
	if nestedDeeper(string(text), maxParseNesting) {
		return nil, errors.New("the JSON is nested too deeply")
	}
	failed := r.try(func() {
		value = nativeParse(r)(goja.FunctionCall{Arguments: []goja.Value{r.vm.ToValue(string(text))}})
	})
	if failed != nil {
		return nil, errors.New("the JSON is invalid or contains a number that JavaScript cannot represent")
	}
	return value, nil
}

// nestedDeeper reports whether the nesting of brackets in a JSON text is deeper than the argument
// "limit". A parser stops at the first error in invalid JSON. nestedDeeper counts at least the
// nesting before this error.
func nestedDeeper(text string, limit int) bool {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted:
			if c == '\\' {
				i++
			} else if c == '"' {
				quoted = false
			}
		case c == '"':
			quoted = true
		case c == '[' || c == '{':
			if depth++; depth > limit {
				return true
			}
		case c == ']' || c == '}':
			depth--
		}
	}
	return false
}
