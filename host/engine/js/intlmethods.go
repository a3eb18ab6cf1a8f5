package js

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dop251/goja"

	"github.com/toolrun/toolrun/host/engine/js/internal/intl"
)

// localeMethod is a method of a built-in prototype that depends on a locale.
type localeMethod struct {
	class, name string
	call        func(r *run, call goja.FunctionCall) goja.Value
}

var localeMethods = []localeMethod{
	{"Number", "toLocaleString", (*run).numberToLocale},
	{"BigInt", "toLocaleString", (*run).bigIntToLocale},
	{"Date", "toLocaleString", dateToLocale("toLocaleString", intl.DefaultsOfDateTime)},
	{"Date", "toLocaleDateString", dateToLocale("toLocaleDateString", intl.DefaultsOfDate)},
	{"Date", "toLocaleTimeString", dateToLocale("toLocaleTimeString", intl.DefaultsOfTime)},
	{"Array", "toLocaleString", (*run).arrayToLocale},
	{"String", "localeCompare", (*run).localeCompare},
	{"String", "toLocaleUpperCase", toCase("toLocaleUpperCase", "toUpperCase", intl.Upper)},
	{"String", "toLocaleLowerCase", toCase("toLocaleLowerCase", "toLowerCase", intl.Lower)},
}

// installLocales puts functions that know locales in the place of goja's, before guest code runs.
func (r *run) installLocales() {
	for _, m := range localeMethods {
		prototype := r.vm.Get(m.class).(*goja.Object).Get("prototype").(*goja.Object)
		method := r.native(m.name, func(call goja.FunctionCall) goja.Value { return m.call(r, call) })
		if m.name == "localeCompare" {
			must(method.DefineDataProperty("length", r.vm.ToValue(1), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE))
		}
		r.defineHidden(prototype, m.name, method)
	}
	typed := r.vm.Get("Int8Array").(*goja.Object).Get("prototype").(*goja.Object).Prototype() // of all typed arrays
	r.defineHidden(typed, "toLocaleString", r.native("toLocaleString", r.arrayToLocale))
	text := r.vm.Get("String").(*goja.Object).Get("prototype").(*goja.Object)
	r.plainCases = map[string]*goja.Object{
		"toUpperCase": text.Get("toUpperCase").(*goja.Object), "toLowerCase": text.Get("toLowerCase").(*goja.Object),
	}
}

func (r *run) numberToLocale(call goja.FunctionCall) goja.Value {
	d, ok := numberThis(call.This)
	if !ok {
		panic(r.newError("TypeError", "Number.prototype.toLocaleString requires that 'this' be a Number"))
	}
	return r.decimalToLocale(d, call)
}

func (r *run) decimalToLocale(d intl.Decimal, call goja.FunctionCall) goja.Value {
	text, err := r.numberFormat(r.localeList(call.Argument(0)), call.Argument(1)).Format(d)
	r.intlFailed(err)
	return r.vm.ToValue(text)
}

// numberThis is the number that this is, or holds.
func numberThis(this goja.Value) (intl.Decimal, bool) {
	if object, ok := this.(*goja.Object); ok && object.ClassName() != "Number" {
		return intl.Decimal{}, false
	}
	switch n := this.Export().(type) {
	case int64:
		return intl.NewInteger(strconv.FormatInt(n, 10)), true
	case float64:
		return intl.NewFloat(n), true
	}
	return intl.Decimal{}, false
}

func (r *run) bigIntToLocale(call goja.FunctionCall) goja.Value {
	integer, ok := call.This.Export().(*big.Int)
	if object, isObject := call.This.(*goja.Object); isObject && object.ClassName() != "BigInt" || !ok {
		panic(r.newError("TypeError", "BigInt.prototype.toLocaleString requires that 'this' be a BigInt"))
	}
	return r.decimalToLocale(intl.NewInteger(integer.String()), call)
}

func dateToLocale(name string, defaults intl.Defaults) func(*run, goja.FunctionCall) goja.Value {
	return func(r *run, call goja.FunctionCall) goja.Value {
		object, ok := call.This.(*goja.Object)
		if !ok || object.ClassName() != "Date" {
			panic(r.newError("TypeError", "Method Date.prototype."+name+" called on incompatible receiver"))
		}
		t, ok := object.Export().(time.Time)
		if !ok {
			return r.vm.ToValue("Invalid Date")
		}
		text, err := r.dateFormat(r.localeList(call.Argument(0)), call.Argument(1), defaults).Format(float64(t.UnixMilli()))
		r.intlFailed(err)
		return r.vm.ToValue(text)
	}
}

// arrayToLocale writes the elements by their own toLocaleString. An array that is being written is empty in itself.
func (r *run) arrayToLocale(call goja.FunctionCall) goja.Value {
	array := call.This.ToObject(r.vm)
	if slices.Contains(r.localising, array) {
		return r.vm.ToValue("")
	}
	r.localising = append(r.localising, array)
	defer func() { r.localising = r.localising[:len(r.localising)-1] }()
	var b strings.Builder
	for i := range array.Get("length").ToInteger() {
		if i > 0 {
			b.WriteByte(',')
		}
		if i%1024 == 0 && r.ctx.Err() != nil {
			break // the runtime sees the interrupt when this function ends
		}
		element := array.Get(strconv.FormatInt(i, 10))
		if !isUndefined(element) && !goja.IsNull(element) {
			b.WriteString(r.elementToLocale(element, call.Arguments))
		}
		if b.Len() > maxLocaleText {
			panic(r.newError("RangeError", "Invalid string length"))
		}
	}
	return r.vm.ToValue(b.String())
}

func (r *run) elementToLocale(element goja.Value, arguments []goja.Value) string {
	method, ok := element.ToObject(r.vm).Get("toLocaleString").(*goja.Object)
	if !ok {
		panic(r.newError("TypeError", "toLocaleString of an element is not a function"))
	}
	return r.call(method, element, arguments...).String()
}

// maxLocaleText bounds the text of an array.
const maxLocaleText = 64 << 20

func (r *run) collator(tags []intl.Tag, options goja.Value) *intl.Collator {
	c, err := intl.NewCollator(tags, r.options(options))
	r.intlFailed(err)
	return c
}

func (r *run) compareTexts(c *intl.Collator, a, b string) goja.Value {
	order, err := c.Compare(a, b)
	r.intlFailed(err)
	return r.vm.ToValue(order)
}

// localeCompare compares two strings. The order of the default locale is kept: sorting asks for it again and again.
func (r *run) localeCompare(call goja.FunctionCall) goja.Value {
	a, b := r.stringThis(call.This, "localeCompare"), call.Argument(0).String()
	if !isUndefined(call.Argument(1)) || !isUndefined(call.Argument(2)) {
		return r.compareTexts(r.collator(r.localeList(call.Argument(1)), call.Argument(2)), a, b)
	}
	if r.defaultOrder == nil {
		r.defaultOrder = r.collator(nil, goja.Undefined())
	}
	return r.compareTexts(r.defaultOrder, a, b)
}

// stringThis is the string that this is, or is converted to.
func (r *run) stringThis(this goja.Value, method string) string {
	if isUndefined(this) || goja.IsNull(this) {
		panic(r.newError("TypeError", "String.prototype."+method+" called on null or undefined"))
	}
	return this.String()
}

// toCase is toLocaleUpperCase or toLocaleLowerCase. Most languages have the rules of the method plain.
func toCase(name, plain string, change func([]intl.Tag, string) (string, bool, error)) func(*run, goja.FunctionCall) goja.Value {
	return func(r *run, call goja.FunctionCall) goja.Value {
		text := r.stringThis(call.This, name)
		changed, ok, err := change(r.localeList(call.Argument(0)), text)
		r.intlFailed(err)
		if ok {
			return r.vm.ToValue(changed)
		}
		return r.call(r.plainCases[plain], call.This)
	}
}
