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

// localeMethod is a method of a built-in prototype. The method depends on the locale.
type localeMethod struct {
	class, name string
	call        func(p *localePatch, call goja.FunctionCall) goja.Value
}

var localeMethods = []localeMethod{
	{"Number", "toLocaleString", (*localePatch).numberToLocale},
	{"BigInt", "toLocaleString", (*localePatch).bigIntToLocale},
	{"Date", "toLocaleString", dateToLocale("toLocaleString", intl.DefaultsOfDateTime)},
	{"Date", "toLocaleDateString", dateToLocale("toLocaleDateString", intl.DefaultsOfDate)},
	{"Date", "toLocaleTimeString", dateToLocale("toLocaleTimeString", intl.DefaultsOfTime)},
	{"Array", "toLocaleString", (*localePatch).arrayToLocale},
	{"String", "localeCompare", (*localePatch).localeCompare},
	{"String", "toLocaleUpperCase", toCase("toLocaleUpperCase", "toUpperCase", intl.Upper)},
	{"String", "toLocaleLowerCase", toCase("toLocaleLowerCase", "toLowerCase", intl.Lower)},
}

// localePatch replaces the functions that should depend on the locale, because goja's functions
// ignore it.
type localePatch struct {
	*realm
	defaultOrder *intl.Collator          // for localeCompare without arguments; nil before its first call
	formatting   []*goja.Object          // arrays that toLocaleString is currently formatting
	plainCases   map[string]*goja.Object // toUpperCase and toLowerCase before any guest code ran
}

// install replaces the functions. This method must be called before any guest code runs.
func (p *localePatch) install() {
	for _, m := range localeMethods {
		prototype := p.vm.Get(m.class).(*goja.Object).Get("prototype").(*goja.Object)
		method := p.native(m.name, func(call goja.FunctionCall) goja.Value { return m.call(p, call) })
		if m.name == "localeCompare" {
			must(method.DefineDataProperty("length", p.vm.ToValue(1), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE))
		}
		defineHidden(prototype, m.name, method)
	}
	typed := p.vm.Get("Int8Array").(*goja.Object).Get("prototype").(*goja.Object).Prototype() // the prototype of all typed arrays
	defineHidden(typed, "toLocaleString", p.native("toLocaleString", p.arrayToLocale))
	text := p.vm.Get("String").(*goja.Object).Get("prototype").(*goja.Object)
	p.plainCases = map[string]*goja.Object{
		"toUpperCase": text.Get("toUpperCase").(*goja.Object), "toLowerCase": text.Get("toLowerCase").(*goja.Object),
	}
}

func (p *localePatch) numberToLocale(call goja.FunctionCall) goja.Value {
	d, ok := numberThis(call.This)
	if !ok {
		panic(p.newError("TypeError", "Number.prototype.toLocaleString requires that 'this' be a Number"))
	}
	return p.decimalToLocale(d, call)
}

func (p *localePatch) decimalToLocale(d intl.Decimal, call goja.FunctionCall) goja.Value {
	text, err := newNumberFormat(p.realm, localeList(p.realm, call.Argument(0)), call.Argument(1)).Format(d)
	checkIntl(p.realm, err)
	return p.vm.ToValue(text)
}

// numberThis returns the receiver of a call as a number. The receiver must be a number, or an
// object that wraps a number.
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

func (p *localePatch) bigIntToLocale(call goja.FunctionCall) goja.Value {
	integer, ok := call.This.Export().(*big.Int)
	if object, isObject := call.This.(*goja.Object); isObject && object.ClassName() != "BigInt" || !ok {
		panic(p.newError("TypeError", "BigInt.prototype.toLocaleString requires that 'this' be a BigInt"))
	}
	return p.decimalToLocale(intl.NewInteger(integer.String()), call)
}

func dateToLocale(name string, defaults intl.Defaults) func(*localePatch, goja.FunctionCall) goja.Value {
	return func(p *localePatch, call goja.FunctionCall) goja.Value {
		object, ok := call.This.(*goja.Object)
		if !ok || object.ClassName() != "Date" {
			panic(p.newError("TypeError", "Method Date.prototype."+name+" called on incompatible receiver"))
		}
		t, ok := object.Export().(time.Time)
		if !ok {
			return p.vm.ToValue("Invalid Date")
		}
		text, err := newDateFormat(p.realm, localeList(p.realm, call.Argument(0)), call.Argument(1), defaults).Format(float64(t.UnixMilli()))
		checkIntl(p.realm, err)
		return p.vm.ToValue(text)
	}
}

// arrayToLocale formats an array. Each element is formatted by the element's own toLocaleString. An
// array can contain itself. Each inner occurrence of the array then becomes an empty string.
func (p *localePatch) arrayToLocale(call goja.FunctionCall) goja.Value {
	array := call.This.ToObject(p.vm)
	if slices.Contains(p.formatting, array) {
		return p.vm.ToValue("")
	}
	p.formatting = append(p.formatting, array)
	defer func() { p.formatting = p.formatting[:len(p.formatting)-1] }()
	var b strings.Builder
	for i := range array.Get("length").ToInteger() {
		if i > 0 {
			b.WriteByte(',')
		}
		if i%1024 == 0 && p.ctx.Err() != nil {
			break // when this function returns, the runtime checks for an interrupt
		}
		element := array.Get(strconv.FormatInt(i, 10))
		if !isUndefined(element) && !goja.IsNull(element) {
			b.WriteString(p.elementToLocale(element, call.Arguments))
		}
		if b.Len() > maxLocaleText {
			panic(p.newError("RangeError", "Invalid string length"))
		}
	}
	return p.vm.ToValue(b.String())
}

func (p *localePatch) elementToLocale(element goja.Value, arguments []goja.Value) string {
	method, ok := element.ToObject(p.vm).Get("toLocaleString").(*goja.Object)
	if !ok {
		panic(p.newError("TypeError", "toLocaleString of an element is not a function"))
	}
	return p.call(method, element, arguments...).String()
}

// maxLocaleText is the maximum size of the text that an array is formatted to.
const maxLocaleText = 64 << 20

func newCollator(r *realm, tags []intl.Tag, options goja.Value) *intl.Collator {
	c, err := intl.NewCollator(tags, optionsOf(r, options))
	checkIntl(r, err)
	return c
}

func compareTexts(r *realm, c *intl.Collator, a, b string) goja.Value {
	order, err := c.Compare(a, b)
	checkIntl(r, err)
	return r.vm.ToValue(order)
}

// localeCompare compares two strings. Sorting calls localeCompare repeatedly, so it keeps the
// default collator.
func (p *localePatch) localeCompare(call goja.FunctionCall) goja.Value {
	a, b := stringThis(p.realm, call.This, "localeCompare"), call.Argument(0).String()
	if !isUndefined(call.Argument(1)) || !isUndefined(call.Argument(2)) {
		return compareTexts(p.realm, newCollator(p.realm, localeList(p.realm, call.Argument(1)), call.Argument(2)), a, b)
	}
	if p.defaultOrder == nil {
		p.defaultOrder = newCollator(p.realm, nil, goja.Undefined())
	}
	return compareTexts(p.realm, p.defaultOrder, a, b)
}

// stringThis converts the receiver of a call to a string.
func stringThis(r *realm, this goja.Value, method string) string {
	if isUndefined(this) || goja.IsNull(this) {
		panic(r.newError("TypeError", "String.prototype."+method+" called on null or undefined"))
	}
	return this.String()
}

// toCase returns the function toLocaleUpperCase or the function toLocaleLowerCase. For most
// languages, this function uses the rules of toUpperCase or toLowerCase.
func toCase(name, plain string, change func([]intl.Tag, string) (string, bool, error)) func(*localePatch, goja.FunctionCall) goja.Value {
	return func(p *localePatch, call goja.FunctionCall) goja.Value {
		text := stringThis(p.realm, call.This, name)
		changed, ok, err := change(localeList(p.realm, call.Argument(0)), text)
		checkIntl(p.realm, err)
		if ok {
			return p.vm.ToValue(changed)
		}
		return p.call(p.plainCases[plain], call.This)
	}
}
