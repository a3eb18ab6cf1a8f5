package js

import (
	"math"
	"math/big"
	"strings"
	"time"

	"github.com/dop251/goja"

	"github.com/toolrun/toolrun/host/engine/js/internal/intl"
)

// intlMethods contains the methods of one class.
type intlMethods = map[string]func(r *realm, value any, call goja.FunctionCall) goja.Value

// intlClasses contains all classes of Intl.
var intlClasses = []*intlClass{
	{name: "NumberFormat", make: func(r *realm, tags []intl.Tag, options goja.Value) any { return newNumberFormat(r, tags, options) },
		methods: intlMethods{
			"get format": func(r *realm, f any, call goja.FunctionCall) goja.Value {
				text, err := f.(*intl.NumberFormat).Format(decimalOf(r, call.Argument(0)))
				checkIntl(r, err)
				return r.vm.ToValue(text)
			},
			"formatToParts": func(r *realm, f any, call goja.FunctionCall) goja.Value {
				parts, err := f.(*intl.NumberFormat).Parts(decimalOf(r, call.Argument(0)))
				checkIntl(r, err)
				return partList(r, parts)
			},
			"resolvedOptions": func(r *realm, f any, _ goja.FunctionCall) goja.Value {
				return resolvedOptions(r, f.(*intl.NumberFormat).Resolved())
			},
			"formatRange":        unsupportedMethod("NumberFormat", "formatRange"),
			"formatRangeToParts": unsupportedMethod("NumberFormat", "formatRangeToParts"),
		}},
	{name: "DateTimeFormat", make: func(r *realm, tags []intl.Tag, options goja.Value) any {
		return newDateFormat(r, tags, options, intl.DefaultsOfConstructor)
	}, methods: intlMethods{
		"get format": func(r *realm, f any, call goja.FunctionCall) goja.Value {
			text, err := f.(*intl.DateTimeFormat).Format(milliseconds(r, call.Argument(0)))
			checkIntl(r, err)
			return r.vm.ToValue(text)
		},
		"formatToParts": func(r *realm, f any, call goja.FunctionCall) goja.Value {
			parts, err := f.(*intl.DateTimeFormat).Parts(milliseconds(r, call.Argument(0)))
			checkIntl(r, err)
			return partList(r, parts)
		},
		"resolvedOptions": func(r *realm, f any, _ goja.FunctionCall) goja.Value {
			return resolvedOptions(r, f.(*intl.DateTimeFormat).Resolved())
		},
		"formatRange":        unsupportedMethod("DateTimeFormat", "formatRange"),
		"formatRangeToParts": unsupportedMethod("DateTimeFormat", "formatRangeToParts"),
	}},
	{name: "PluralRules", needNew: true, make: func(r *realm, tags []intl.Tag, options goja.Value) any {
		f, err := intl.NewPluralRules(tags, optionsOf(r, options))
		checkIntl(r, err)
		return f
	}, methods: intlMethods{
		"select": func(r *realm, f any, call goja.FunctionCall) goja.Value {
			category, err := f.(*intl.PluralRules).Select(intl.NewFloat(call.Argument(0).ToNumber().ToFloat()))
			checkIntl(r, err)
			return r.vm.ToValue(category)
		},
		"resolvedOptions": func(r *realm, f any, _ goja.FunctionCall) goja.Value {
			return resolvedOptions(r, f.(*intl.PluralRules).Resolved())
		},
		"selectRange": unsupportedMethod("PluralRules", "selectRange"),
	}},
	{name: "RelativeTimeFormat", needNew: true, make: func(r *realm, tags []intl.Tag, options goja.Value) any {
		f, err := intl.NewRelativeTimeFormat(tags, optionsOf(r, options))
		checkIntl(r, err)
		return f
	}, methods: intlMethods{
		"format": func(r *realm, f any, call goja.FunctionCall) goja.Value {
			text, err := f.(*intl.RelativeTimeFormat).Format(relativeTime(call))
			checkIntl(r, err)
			return r.vm.ToValue(text)
		},
		"formatToParts": func(r *realm, f any, call goja.FunctionCall) goja.Value {
			parts, err := f.(*intl.RelativeTimeFormat).Parts(relativeTime(call))
			checkIntl(r, err)
			return partList(r, parts)
		},
		"resolvedOptions": func(r *realm, f any, _ goja.FunctionCall) goja.Value {
			return resolvedOptions(r, f.(*intl.RelativeTimeFormat).Resolved())
		},
	}},
	{name: "ListFormat", needNew: true, make: func(r *realm, tags []intl.Tag, options goja.Value) any {
		f, err := intl.NewListFormat(tags, strictOptionsOf(r, options))
		checkIntl(r, err)
		return f
	}, methods: intlMethods{
		"format": func(r *realm, f any, call goja.FunctionCall) goja.Value {
			return r.vm.ToValue(f.(*intl.ListFormat).Format(textList(r, call.Argument(0))))
		},
		"formatToParts": func(r *realm, f any, call goja.FunctionCall) goja.Value {
			return partList(r, f.(*intl.ListFormat).Parts(textList(r, call.Argument(0))))
		},
		"resolvedOptions": func(r *realm, f any, _ goja.FunctionCall) goja.Value {
			return resolvedOptions(r, f.(*intl.ListFormat).Resolved())
		},
	}},
	{name: "Collator", make: func(r *realm, tags []intl.Tag, options goja.Value) any { return newCollator(r, tags, options) },
		methods: intlMethods{
			"get compare": func(r *realm, c any, call goja.FunctionCall) goja.Value {
				return compareTexts(r, c.(*intl.Collator), call.Argument(0).String(), call.Argument(1).String())
			},
			"resolvedOptions": func(r *realm, c any, _ goja.FunctionCall) goja.Value {
				return resolvedOptions(r, c.(*intl.Collator).Resolved())
			},
		}},
	{name: "DisplayNames", needNew: true, make: unsupportedClass("DisplayNames", "define the names in the tool"), methods: intlMethods{}},
	{name: "Segmenter", needNew: true, make: unsupportedClass("Segmenter", "split the text with a regular expression"), methods: intlMethods{}},
}

// unsupportedClass returns a constructor for a class that is not supported. The constructor throws
// an error.
func unsupportedClass(name, hint string) func(*realm, []intl.Tag, goja.Value) any {
	return func(r *realm, _ []intl.Tag, _ goja.Value) any {
		panic(r.newError("RangeError", "Intl."+name+" is not supported by toolrun's Intl; "+hint))
	}
}

// relativeTime converts the arguments "value" and "unit".
func relativeTime(call goja.FunctionCall) (intl.Decimal, string) {
	d := intl.NewFloat(call.Argument(0).ToNumber().ToFloat())
	return d, call.Argument(1).String()
}

// textList converts an iterable of strings to a slice of strings.
func textList(r *realm, value goja.Value) (texts []string) {
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

// unsupportedMethod returns a method that would format a range. The method throws an error, because
// formatting ranges is not supported.
func unsupportedMethod(class, name string) func(*realm, any, goja.FunctionCall) goja.Value {
	return func(r *realm, _ any, _ goja.FunctionCall) goja.Value {
		panic(r.newError("RangeError", "Intl."+class+".prototype."+name+" is not supported by toolrun's Intl; format the start and the end separately"))
	}
}

func newNumberFormat(r *realm, tags []intl.Tag, options goja.Value) *intl.NumberFormat {
	f, err := intl.NewNumberFormat(tags, optionsOf(r, options))
	checkIntl(r, err)
	return f
}

func newDateFormat(r *realm, tags []intl.Tag, options goja.Value, defaults intl.Defaults) *intl.DateTimeFormat {
	f, err := intl.NewDateTimeFormat(tags, optionsOf(r, options), defaults, time.Local)
	checkIntl(r, err)
	return f
}

// decimalOf converts a value to a decimal number. For BigInts and strings, this conversion is
// exact.
func decimalOf(r *realm, value goja.Value) intl.Decimal {
	if object, ok := value.(*goja.Object); ok {
		value = primitiveNumber(r, object)
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
	number := value.ToNumber().ToFloat()
	if text, ok := value.(goja.String); ok && !intl.FitsFloat(text.String(), number) {
		panic(r.newError("RangeError", "a numeric string with an exponent above 1000 is not supported by toolrun's Intl; use a BigInt"))
	}
	return intl.NewFloat(number)
}

// primitiveNumber converts an object to a primitive value, in the same way as the operation
// ToPrimitive with the hint "number".
func primitiveNumber(r *realm, object *goja.Object) goja.Value {
	if integer, ok := object.Export().(*big.Int); ok && object.ClassName() == "BigInt" {
		return r.vm.ToValue(integer)
	}
	return object.ToNumber()
}

// isSpace reports whether JavaScript removes a character when it trims a text.
func isSpace(c rune) bool {
	return strings.ContainsRune("\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff", c) || c >= 0x2000 && c <= 0x200a
}

// milliseconds converts a date or a number to a time in milliseconds. If the argument is undefined,
// this time is the current time.
func milliseconds(r *realm, value goja.Value) float64 {
	if isUndefined(value) {
		return float64(r.now().UnixMilli())
	}
	return math.Trunc(value.ToNumber().ToFloat())
}
