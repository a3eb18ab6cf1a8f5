package js

import (
	"github.com/dop251/goja"

	"github.com/toolrun/toolrun/host/engine/js/internal/intl"
)

// localeKeywords are the properties of an Intl.Locale that stand in the extension -u- of its tag.
var localeKeywords = map[string]string{
	"calendar": "ca", "collation": "co", "hourCycle": "hc", "caseFirst": "kf", "numberingSystem": "nu",
}

// makeLocaleClass makes Intl.Locale, whose objects hold a tag.
func (r *run) makeLocaleClass() goja.Value {
	class := &intlClass{name: "Locale"}
	constructor := r.vm.ToValue(func(call goja.ConstructorCall) *goja.Object {
		r.enter()
		defer r.leave()
		made := r.madePrototype("Locale", call.This)
		if made == nil {
			panic(r.newError("TypeError", "Constructor Intl.Locale requires 'new'"))
		}
		tag, ok := r.localeOf(call.Argument(0))
		if object, isObject := call.Argument(0).(*goja.Object); !ok && isObject {
			tag, ok = r.parseTag(object.String()), true
		}
		if !ok {
			panic(r.newError("TypeError", "First argument to Intl.Locale constructor can't be empty or missing"))
		}
		tag, err := intl.NewLocale(tag, r.options(call.Argument(1)))
		r.intlFailed(err)
		return r.newIntlObject("Locale", tag, made)
	}).(*goja.Object)
	must(constructor.DefineDataProperty("name", r.vm.ToValue("Locale"), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	prototype := constructor.Get("prototype").(*goja.Object)
	r.rememberPrototype("Locale", prototype)
	r.localeMethods(class, prototype)
	r.localeGetters(class, prototype)
	must(prototype.DefineDataPropertySymbol(goja.SymToStringTag, r.vm.ToValue("Intl.Locale"), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	return constructor
}

func (r *run) localeMethods(class *intlClass, prototype *goja.Object) {
	likely := func(change func(intl.Tag) (intl.Tag, error)) func(*run, any, goja.FunctionCall) goja.Value {
		return func(r *run, value any, _ goja.FunctionCall) goja.Value {
			tag, err := change(value.(intl.Tag))
			r.intlFailed(err)
			return r.newIntlObject("Locale", tag, prototype)
		}
	}
	r.defineIntlMethod(class, prototype, "maximize", likely(intl.Tag.Maximize))
	r.defineIntlMethod(class, prototype, "minimize", likely(intl.Tag.Minimize))
	r.defineIntlMethod(class, prototype, "toString", func(r *run, value any, _ goja.FunctionCall) goja.Value {
		return r.vm.ToValue(value.(intl.Tag).String())
	})
}

func (r *run) localeGetters(class *intlClass, prototype *goja.Object) {
	getters := map[string]func(intl.Tag) goja.Value{
		"baseName": func(t intl.Tag) goja.Value { return r.vm.ToValue(t.Base()) },
		"language": func(t intl.Tag) goja.Value { return r.textOrUndefined(t.Language) },
		"script":   func(t intl.Tag) goja.Value { return r.textOrUndefined(t.Script) },
		"region":   func(t intl.Tag) goja.Value { return r.textOrUndefined(t.Region) },
		"numeric": func(t intl.Tag) goja.Value {
			value, ok := t.Keyword("kn")
			return r.vm.ToValue(ok && value != "false")
		},
	}
	for name, key := range localeKeywords {
		getters[name] = func(t intl.Tag) goja.Value {
			value, ok := t.Keyword(key)
			if !ok {
				return goja.Undefined()
			}
			return r.vm.ToValue(value)
		}
	}
	for name, get := range getters {
		getter := r.native("get "+name, func(call goja.FunctionCall) goja.Value {
			return get(r.intlThis(class, name, call.This).value.(intl.Tag))
		})
		must(prototype.DefineAccessorProperty(name, getter, nil, goja.FLAG_TRUE, goja.FLAG_FALSE))
	}
}
