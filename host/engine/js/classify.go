package js

import (
	"math/big"
	"reflect"

	"github.com/dop251/goja"
)

// objectKind determines which kind of JSON value represents an object.
type objectKind int

const (
	record objectKind = iota
	array
	boxedNumber
	boxedString
	boxedBoolean
	rawJSON
	refusedObject
)

// goja exports an object to a Go type. These are the Go types for objects of some JavaScript
// classes. Reading this Go type runs no guest code, and does not convert the object.
var (
	mapType    = reflect.TypeFor[[][2]any]()
	setType    = reflect.TypeFor[[]any]()
	bufferType = reflect.TypeFor[goja.ArrayBuffer]()
	proxyType  = reflect.TypeFor[goja.Proxy]()
	plainType  = reflect.TypeFor[map[string]any]()
	bigIntType = reflect.TypeFor[*big.Int]()
)

// refusedTags contains the classes that can be identified only by the tag of their objects in goja.
// JSON.stringify would encode such objects as {}.
var refusedTags = map[string]string{
	"WeakMap":   "is a WeakMap",
	"WeakSet":   "is a WeakSet",
	"DataView":  "is a DataView",
	"Generator": "is a generator; did you mean to write [...value]?",
}

// classify returns the kind of JSON value that represents the object o. If JSON cannot represent
// the object, the result is refusedObject and the reason. JSON.stringify would encode most of these
// objects as {} without an error.
func classify(r *realm, o *goja.Object) (objectKind, string) {
	switch o.ClassName() {
	case "Array":
		return array, ""
	case "Number":
		return boxedNumber, ""
	case "String":
		return boxedString, ""
	case "Boolean":
		return boxedBoolean, ""
	case "RawJSON":
		return rawJSON, ""
	case "Function":
		return refusedObject, "is a function"
	case "RegExp":
		return refusedObject, "is a RegExp; use its source"
	case "Error":
		return refusedObject, "is an Error; use its message"
	case "Date":
		return refusedObject, "is an invalid Date" // toJSON has converted a valid date
	case "Object":
		return classifyByType(r, o)
	}
	return record, ""
}

func classifyByType(r *realm, o *goja.Object) (objectKind, string) {
	switch t := o.ExportType(); t {
	case plainType:
		return classifyByTag(r, o)
	case mapType:
		return refusedObject, "is a Map; use Object.fromEntries(map)"
	case setType:
		return refusedObject, "is a Set; use [...set]"
	case promiseType:
		return refusedObject, "is a promise; is an await missing?"
	case bufferType:
		return refusedObject, "is an ArrayBuffer; use [...new Uint8Array(buffer)]"
	case proxyType:
		return classifyProxy(r, o)
	case bigIntType:
		return refusedObject, "is a BigInt"
	default:
		switch t.Kind() {
		case reflect.Func:
			return refusedObject, "is a function"
		case reflect.Slice:
			return refusedObject, "is a typed array; use [...array]"
		case reflect.String:
			return refusedObject, "is a symbol"
		}
		return record, ""
	}
}

func classifyByTag(r *realm, o *goja.Object) (objectKind, string) {
	if o.Prototype() == r.objectProto {
		return record, ""
	}
	if tag, ok := o.GetSymbol(goja.SymToStringTag).(goja.String); ok {
		if what, refused := refusedTags[tag.String()]; refused {
			return refusedObject, what
		}
	}
	return record, ""
}

// classifyProxy follows a chain of proxies to its end. Like JSON.stringify, it detects whether the
// chain ends with an array.
func classifyProxy(r *realm, o *goja.Object) (objectKind, string) {
	for range r.limits.ValueNesting {
		target := o.Export().(goja.Proxy).Target()
		if target == nil {
			return refusedObject, "is a revoked proxy"
		}
		if target.ExportType() != proxyType {
			if target.ClassName() == "Array" {
				return array, ""
			}
			return record, ""
		}
		o = target
	}
	return refusedObject, "is a chain of too many proxies"
}
