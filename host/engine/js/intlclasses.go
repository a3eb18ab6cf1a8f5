package js

import (
	"math"
	"math/big"
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
	{name: "Collator", make: func(r *run, tags []intl.Tag, options goja.Value) any { return r.collator(tags, options) },
		methods: intlMethods{
			"get compare": func(r *run, c any, call goja.FunctionCall) goja.Value {
				return r.compareTexts(c.(*intl.Collator), call.Argument(0).String(), call.Argument(1).String())
			},
			"resolvedOptions": func(r *run, c any, _ goja.FunctionCall) goja.Value {
				return r.resolvedOptions(c.(*intl.Collator).Resolved())
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
	number := value.ToNumber().ToFloat()
	if text, ok := value.(goja.String); ok && !intl.FitsFloat(text.String(), number) {
		panic(r.newError("RangeError", "a number in a string with an exponent of more than 1000 is not supported by toolrun's Intl; use a BigInt"))
	}
	return intl.NewFloat(number)
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
