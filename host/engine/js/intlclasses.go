package js

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/dop251/goja"

	"github.com/toolrun/toolrun/host/engine/js/internal/intl"
)

// intlMethods are the methods of a class.
type intlMethods = map[string]func(r *run, value any, call goja.FunctionCall) goja.Value

// intlClasses are the classes of Intl.
var intlClasses = []*intlClass{
	{name: "NumberFormat", make: func(r *run, tags []intl.Tag, options goja.Value) any { return r.numberFormat(tags, options) },
		methods: intlMethods{
			"get format": func(r *run, f any, call goja.FunctionCall) goja.Value {
				text, err := f.(*intl.NumberFormat).Format(r.decimal(call.Argument(0)))
				r.intlFailed(err)
				return r.vm.ToValue(text)
			},
			"formatToParts": func(r *run, f any, call goja.FunctionCall) goja.Value {
				parts, err := f.(*intl.NumberFormat).Parts(r.decimal(call.Argument(0)))
				r.intlFailed(err)
				return r.partList(parts)
			},
			"resolvedOptions": func(r *run, f any, _ goja.FunctionCall) goja.Value {
				return r.resolvedOptions(f.(*intl.NumberFormat).Resolved())
			},
			"formatRange":        noRange("NumberFormat", "formatRange"),
			"formatRangeToParts": noRange("NumberFormat", "formatRangeToParts"),
		}},
	{name: "DateTimeFormat", make: func(r *run, tags []intl.Tag, options goja.Value) any {
		return r.dateFormat(tags, options, intl.DefaultsOfConstructor)
	}, methods: intlMethods{
		"get format": func(r *run, f any, call goja.FunctionCall) goja.Value {
			text, err := f.(*intl.DateTimeFormat).Format(r.milliseconds(call.Argument(0)))
			r.intlFailed(err)
			return r.vm.ToValue(text)
		},
		"formatToParts": func(r *run, f any, call goja.FunctionCall) goja.Value {
			parts, err := f.(*intl.DateTimeFormat).Parts(r.milliseconds(call.Argument(0)))
			r.intlFailed(err)
			return r.partList(parts)
		},
		"resolvedOptions": func(r *run, f any, _ goja.FunctionCall) goja.Value {
			return r.resolvedOptions(f.(*intl.DateTimeFormat).Resolved())
		},
		"formatRange":        noRange("DateTimeFormat", "formatRange"),
		"formatRangeToParts": noRange("DateTimeFormat", "formatRangeToParts"),
	}},
	{name: "PluralRules", needNew: true, make: func(r *run, tags []intl.Tag, options goja.Value) any {
		f, err := intl.NewPluralRules(tags, r.options(options))
		r.intlFailed(err)
		return f
	}, methods: intlMethods{
		"select": func(r *run, f any, call goja.FunctionCall) goja.Value {
			category, err := f.(*intl.PluralRules).Select(intl.NewFloat(call.Argument(0).ToNumber().ToFloat()))
			r.intlFailed(err)
			return r.vm.ToValue(category)
		},
		"resolvedOptions": func(r *run, f any, _ goja.FunctionCall) goja.Value {
			return r.resolvedOptions(f.(*intl.PluralRules).Resolved())
		},
		"selectRange": noRange("PluralRules", "selectRange"),
	}},
	{name: "RelativeTimeFormat", needNew: true, make: func(r *run, tags []intl.Tag, options goja.Value) any {
		f, err := intl.NewRelativeTimeFormat(tags, r.options(options))
		r.intlFailed(err)
		return f
	}, methods: intlMethods{
		"format": func(r *run, f any, call goja.FunctionCall) goja.Value {
			text, err := f.(*intl.RelativeTimeFormat).Format(r.relativeTime(call))
			r.intlFailed(err)
			return r.vm.ToValue(text)
		},
		"formatToParts": func(r *run, f any, call goja.FunctionCall) goja.Value {
			parts, err := f.(*intl.RelativeTimeFormat).Parts(r.relativeTime(call))
			r.intlFailed(err)
			return r.partList(parts)
		},
		"resolvedOptions": func(r *run, f any, _ goja.FunctionCall) goja.Value {
			return r.resolvedOptions(f.(*intl.RelativeTimeFormat).Resolved())
		},
	}},
	{name: "ListFormat", needNew: true, make: func(r *run, tags []intl.Tag, options goja.Value) any {
		f, err := intl.NewListFormat(tags, r.strictOptions(options))
		r.intlFailed(err)
		return f
	}, methods: intlMethods{
		"format": func(r *run, f any, call goja.FunctionCall) goja.Value {
			return r.vm.ToValue(f.(*intl.ListFormat).Format(r.textList(call.Argument(0))))
		},
		"formatToParts": func(r *run, f any, call goja.FunctionCall) goja.Value {
			return r.partList(f.(*intl.ListFormat).Parts(r.textList(call.Argument(0))))
		},
		"resolvedOptions": func(r *run, f any, _ goja.FunctionCall) goja.Value {
			return r.resolvedOptions(f.(*intl.ListFormat).Resolved())
		},
	}},
	{name: "DisplayNames", needNew: true, make: refused("DisplayNames", "keep the names that the tool needs in the tool"), methods: intlMethods{}},
	{name: "Segmenter", needNew: true, make: refused("Segmenter", "split the text with a regular expression"), methods: intlMethods{}},
}

// refused is a class that cannot be made.
func refused(name, hint string) func(*run, []intl.Tag, goja.Value) any {
	return func(r *run, _ []intl.Tag, _ goja.Value) any {
		panic(r.newError("RangeError", "Intl."+name+" is not supported by toolrun's Intl; "+hint))
	}
}

// relativeTime reads the arguments value and unit.
func (r *run) relativeTime(call goja.FunctionCall) (intl.Decimal, string) {
	d := intl.NewFloat(call.Argument(0).ToNumber().ToFloat())
	return d, call.Argument(1).String()
}

// textList reads an iterable of strings.
func (r *run) textList(value goja.Value) (texts []string) {
	if isUndefined(value) {
		return nil
	}
	r.vm.ForOf(value, func(item goja.Value) bool {
		text, ok := item.(goja.String)
		if !ok {
			panic(r.newError("TypeError", "Iterable yielded a value which is not a string"))
		}
		texts = append(texts, text.String())
		return true
	})
	return texts
}

// noRange is a method that there is none of.
func noRange(class, name string) func(*run, any, goja.FunctionCall) goja.Value {
	return func(r *run, _ any, _ goja.FunctionCall) goja.Value {
		panic(r.newError("RangeError", "Intl."+class+".prototype."+name+" is not supported by toolrun's Intl; format both ends"))
	}
}

func (r *run) numberFormat(tags []intl.Tag, options goja.Value) *intl.NumberFormat {
	f, err := intl.NewNumberFormat(tags, r.options(options))
	r.intlFailed(err)
	return f
}

func (r *run) dateFormat(tags []intl.Tag, options goja.Value, defaults intl.Defaults) *intl.DateTimeFormat {
	f, err := intl.NewDateTimeFormat(tags, r.options(options), defaults, time.Local)
	r.intlFailed(err)
	return f
}

// decimal is the number of a value, exact where it is a BigInt or a string.
func (r *run) decimal(value goja.Value) intl.Decimal {
	if object, ok := value.(*goja.Object); ok {
		value = r.primitiveNumber(object)
	}
	switch v := value.(type) {
	case goja.String:
		text := strings.TrimFunc(v.String(), isSpace)
		if d, ok := intl.ParseDecimal(text); ok {
			return d
		}
	case *goja.Symbol:
		panic(r.newError("TypeError", "Cannot convert a Symbol value to a number"))
	}
	if integer, ok := value.Export().(*big.Int); ok {
		return intl.NewInteger(integer.String())
	}
	return intl.NewFloat(value.ToNumber().ToFloat())
}

// primitiveNumber is what ToPrimitive with the hint number makes of an object.
func (r *run) primitiveNumber(object *goja.Object) goja.Value {
	if integer, ok := object.Export().(*big.Int); ok && object.ClassName() == "BigInt" {
		return r.vm.ToValue(integer)
	}
	return object.ToNumber()
}

// isSpace reports whether JavaScript trims a character.
func isSpace(c rune) bool {
	return strings.ContainsRune("\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff", c) || c >= 0x2000 && c <= 0x200a
}

// milliseconds is the time of a date or a number, and now for undefined.
func (r *run) milliseconds(value goja.Value) float64 {
	if isUndefined(value) {
		return float64(r.now().UnixMilli())
	}
	return math.Trunc(value.ToNumber().ToFloat())
}

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
}

// installLocales puts functions that know locales in the place of goja's, before guest code runs.
func (r *run) installLocales() {
	for _, m := range localeMethods {
		prototype := r.vm.Get(m.class).(*goja.Object).Get("prototype").(*goja.Object)
		r.defineHidden(prototype, m.name, r.native(m.name, func(call goja.FunctionCall) goja.Value { return m.call(r, call) }))
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

// arrayToLocale writes the elements by their own toLocaleString.
func (r *run) arrayToLocale(call goja.FunctionCall) goja.Value {
	array := call.This.ToObject(r.vm)
	var b strings.Builder
	for i := range array.Get("length").ToInteger() {
		if i > 0 {
			b.WriteByte(',')
		}
		element := array.Get(strconv.FormatInt(i, 10))
		if isUndefined(element) || goja.IsNull(element) {
			continue
		}
		method, ok := element.ToObject(r.vm).Get("toLocaleString").(*goja.Object)
		if !ok {
			panic(r.newError("TypeError", "toLocaleString of an element is not a function"))
		}
		b.WriteString(r.call(method, element, call.Arguments...).String())
		if b.Len() > maxLocaleText {
			panic(r.newError("RangeError", "Invalid string length"))
		}
	}
	return r.vm.ToValue(b.String())
}

// maxLocaleText bounds the text of an array.
const maxLocaleText = 64 << 20
