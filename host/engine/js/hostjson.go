package js

import (
	"encoding/json"
	"errors"

	"github.com/dop251/goja"

	"github.com/toolrun/toolrun/abi"
)

// maxParseNesting is the maximum nesting of a text for goja's JSON.parse, which recurses on the
// stack of the process. A stack overflow would end the process.
const maxParseNesting = 1000

// replaceJSON replaces JSON.parse and JSON.stringify with our own functions. stringifies is false
// if the tool's code does not contain the name JSON.stringify. A tool that computes the name
// JSON.stringify at run time gets goja's function.
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

// nativeParse returns goja's JSON.parse. nativeParse looks up the function on demand, because most
// runs do not need it. A guest that cannot access the object JSON cannot have changed the object's
// members.
func nativeParse(r *realm) nativeFunc {
	if r.parse == nil {
		r.parse = r.vm.GlobalObject().Get("JSON").(*goja.Object).Get("parse").Export().(nativeFunc)
	}
	return r.parse
}

// parseDocument converts a JSON object from the host to a guest value.
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

// parseJSON converts JSON from the host to a guest value. parseJSON runs no guest code.
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

// nestedDeeper reports whether the brackets in a JSON text are nested deeper than limit. For
// invalid JSON, nestedDeeper counts at least the nesting that a parser reaches before the parser
// fails.
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
