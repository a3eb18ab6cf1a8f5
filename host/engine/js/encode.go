package js

import (
	"math"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/internal/strictjson"
)

// encodeError explains why a value cannot be encoded. It contains the path of the value.
type encodeError struct {
	kind  encodeErrorKind
	where string // "value.items[3].price"
	what  string // "is NaN"
	hint  string // can be ""
}

type encodeErrorKind int

const (
	notJSON encodeErrorKind = iota
	tooDeep
	tooLarge
)

func (f *encodeError) Error() string { return f.where + " " + f.what }

// bounds contains the limits for encoding one value.
type bounds struct {
	nesting int
	bytes   int
	// If lossy is true, values are encoded as in JSON.stringify: NaN and infinite numbers become
	// null, and functions and symbols are omitted.
	lossy bool
	// strict is the parameter whose argument is encoded, or nil if the value is not an argument;
	// see abi.Param.Strict.
	strict *abi.Param
}

// encoder encodes a guest's value as JSON. JSON.stringify drops some values, and encodes others as
// null or {}. The encoder rejects each value that JSON cannot represent, and reports the path of
// the value. It also enforces limits, and does not depend on names that a guest can change. The
// methods of encoder run getters and proxies. Therefore, they must be called only within a
// protected call.
type encoder struct {
	realm   *realm
	bounds  bounds
	out     []byte
	path    []step
	parents []*goja.Object
	values  int
	losses  losses
}

// checkEvery is the number of values that are encoded between two checks of whether the run has
// ended.
const checkEvery = 4096

// encodeJSON encodes v. In errors, each path begins with the argument "root". If the argument v is
// undefined, the result is nil, and so is the error.
func encodeJSON(r *realm, root string, v goja.Value, b bounds) ([]byte, *encodeError) {
	e := &encoder{realm: r, bounds: b}
	return e.encode(root, v)
}

func (e *encoder) encode(root string, v goja.Value) ([]byte, *encodeError) {
	if v = e.resolve(v); isUndefined(v) || e.omits(v) {
		return nil, nil
	}
	refused := e.value(v)
	if refused == nil {
		refused = e.checkSize()
	}
	if refused != nil {
		refused.where = pathText(root, e.path)
		return nil, refused
	}
	return e.out, nil
}

// value encodes a value that the method "resolve" has returned.
func (e *encoder) value(v goja.Value) *encodeError {
	e.values++
	if e.values%checkEvery == 0 && e.realm.ctx.Err() != nil {
		// The runtime has been interrupted, or will be interrupted soon. The guest stops at its
		// next instruction.
		return &encodeError{kind: tooLarge, what: "takes too long to encode"}
	}
	if refused := e.checkSize(); refused != nil {
		return refused
	}
	switch v := v.(type) {
	case *goja.Object:
		return e.object(v)
	case *goja.Symbol:
		return notEncodable("is a symbol")
	case goja.String:
		return e.text(v)
	}
	if isUndefined(v) || goja.IsNull(v) {
		e.out = append(e.out, "null"...)
		return nil
	}
	return e.scalar(v)
}

func (e *encoder) checkSize() *encodeError {
	if len(e.out) <= e.bounds.bytes {
		return nil
	}
	return &encodeError{kind: tooLarge, what: "exceeds the limit of " + strconv.Itoa(e.bounds.bytes) + " bytes"}
}

func notEncodable(what string) *encodeError { return &encodeError{kind: notJSON, what: what} }

// undefinedMember returns the error for an undefined value in a strict member of an argument; see
// abi.Param.Strict.
func undefinedMember() *encodeError {
	return &encodeError{kind: notJSON, what: "is undefined", hint: "pass a value, or omit the member to select entries without this condition"}
}

func isUndefined(v goja.Value) bool { return v == nil || goja.IsUndefined(v) }

func (e *encoder) scalar(v goja.Value) *encodeError {
	switch v.ExportType().Kind() {
	case reflect.Bool:
		e.out = strconv.AppendBool(e.out, v.ToBoolean())
	case reflect.Int64:
		e.out = strconv.AppendInt(e.out, v.ToInteger(), 10)
	case reflect.Float64:
		f := v.ToFloat()
		if math.IsNaN(f) {
			return e.nonFinite("is NaN")
		}
		if math.IsInf(f, 0) {
			return e.nonFinite("is infinite")
		}
		e.out = append(e.out, v.String()...)
	default:
		return notEncodable("is a BigInt; use a number, or String(...)")
	}
	return nil
}

// text encodes a string. UTF-8 cannot represent an unpaired surrogate. If a string contains one,
// the method rejects the string. If unpaired surrogates were replaced by another character, two
// different keys could become equal.
func (e *encoder) text(v goja.String) *encodeError {
	s := v.String()
	if strings.ContainsRune(s, utf8.RuneError) && hasLoneSurrogate(v) {
		return notEncodable("contains an unpaired surrogate")
	}
	e.out = appendQuoted(e.out, s)
	return nil
}

func hasLoneSurrogate(v goja.String) bool {
	for i, n := 0, v.Length(); i < n; i++ {
		c := v.CharAt(i)
		switch {
		case c < 0xD800 || c > 0xDFFF:
		case c < 0xDC00 && i+1 < n && v.CharAt(i+1)&0xFC00 == 0xDC00:
			i++
		default:
			return true
		}
	}
	return false
}

func (e *encoder) object(o *goja.Object) *encodeError {
	kind, what := classify(e.realm, o)
	if kind == refusedObject {
		return notEncodable(what)
	}
	for _, parent := range e.parents {
		if parent == o {
			return notEncodable("contains itself")
		}
	}
	if len(e.parents) >= e.bounds.nesting {
		return &encodeError{kind: tooDeep, what: "is nested deeper than " + strconv.Itoa(e.bounds.nesting) + " levels"}
	}
	e.parents = append(e.parents, o)
	refused := e.members(o, kind)
	e.parents = e.parents[:len(e.parents)-1]
	return refused
}

func (e *encoder) members(o *goja.Object, kind objectKind) *encodeError {
	switch kind {
	case boxedNumber:
		return e.value(e.realm.vm.ToValue(o.ToFloat()))
	case boxedString:
		return e.value(o.ToString())
	case boxedBoolean:
		e.out = strconv.AppendBool(e.out, o.Export() == true)
		return nil
	case rawJSON:
		return e.raw(o.Get("rawJSON").String())
	case array:
		return e.array(o)
	default:
		return e.record(o)
	}
}

// raw encodes the result of JSON.rawJSON. It checks the text, because goja's JSON.rawJSON accepts
// texts that are not JSON.
func (e *encoder) raw(text string) *encodeError {
	if err := strictjson.Check([]byte(text), strictjson.Limits{}); err != nil {
		return notEncodable("is raw JSON that other parsers reject")
	}
	e.out = append(e.out, text...)
	return nil
}

// array encodes an array. Undefined items and holes become null, as in JSON.stringify.
func (e *encoder) array(o *goja.Object) *encodeError {
	e.out = append(e.out, '[')
	for i := range o.Get("length").ToInteger() {
		if i > 0 {
			e.out = append(e.out, ',')
		}
		e.path = append(e.path, step{index: int(i)})
		value := e.resolve(o.Get(strconv.FormatInt(i, 10)))
		if isUndefined(value) && e.rejectsUndefined() {
			return undefinedMember()
		}
		if e.omits(value) {
			value = goja.Null()
		}
		if refused := e.value(value); refused != nil {
			return refused
		}
		e.path = e.path[:len(e.path)-1]
	}
	e.out = append(e.out, ']')
	return nil
}

// record encodes an object. Undefined members are omitted, as in JSON.stringify.
func (e *encoder) record(o *goja.Object) *encodeError {
	e.out = append(e.out, '{')
	keys, first := o.Keys(), true
	for _, key := range keys {
		e.path = append(e.path, step{key: key, index: -1})
		raw := o.Get(key)
		if strings.ContainsRune(key, utf8.RuneError) && (raw == nil || count(keys, key) > 1) {
			// If a key contains invalid characters, goja replaces them with U+FFFD. If the method
			// Get is called with the changed key, it finds no member or another member.
			return notEncodable("has an unpaired surrogate in its name")
		}
		value := e.resolve(raw)
		if isUndefined(value) && e.rejectsUndefined() {
			return undefinedMember()
		}
		if !isUndefined(value) && !e.omits(value) {
			if !first {
				e.out = append(e.out, ',')
			}
			first = false
			e.out = append(appendQuoted(e.out, key), ':')
			if refused := e.value(value); refused != nil {
				return refused
			}
		}
		e.path = e.path[:len(e.path)-1]
	}
	e.out = append(e.out, '}')
	return nil
}

// rejectsUndefined reports whether an undefined value at the current path must be rejected.
func (e *encoder) rejectsUndefined() bool {
	p := e.bounds.strict
	if p == nil || len(p.Strict) == 0 {
		return false
	}
	path := make([]string, len(e.path))
	for i, s := range e.path {
		path[i] = s.key
	}
	return p.Rejects(path...)
}

func count(list []string, s string) (n int) {
	for _, item := range list {
		if item == s {
			n++
		}
	}
	return n
}

// resolve returns the value to encode in place of v: the result of v's method toJSON, or v itself
// if no such method exists. If a guest or a library has added a toJSON to Object.prototype or
// Array.prototype, that method is ignored, because it would change every value.
func (e *encoder) resolve(v goja.Value) goja.Value {
	o, ok := v.(*goja.Object)
	if !ok {
		if v == nil || !goja.IsBigInt(v) {
			return v
		}
		o = v.ToObject(e.realm.vm)
	}
	method := o.Get("toJSON")
	if isUndefined(method) {
		return v
	}
	if _, ok := goja.AssertFunction(method); !ok || method == e.realm.objectProto.Get("toJSON") || method == e.realm.vm.NewArray().Prototype().Get("toJSON") {
		return v
	}
	answer := e.realm.call(method.(*goja.Object), v, e.realm.vm.ToValue(e.lastKey()))
	if answer != nil && goja.IsNull(answer) && o.ClassName() == "Date" {
		return v // the value is an invalid date, and is rejected later
	}
	return answer
}

func (e *encoder) lastKey() string {
	if len(e.path) == 0 {
		return ""
	}
	last := e.path[len(e.path)-1]
	if last.index >= 0 {
		return strconv.Itoa(last.index)
	}
	return last.key
}
