package js

import (
	"github.com/dop251/goja"

	"github.com/toolrun/toolrun/host/engine/js/internal/intl"
)

// localeKeywords maps the properties of an Intl.Locale to their keys in the extension -u- of its
// tag.
var localeKeywords = map[string]string{
	"calendar": "ca", "collation": "co", "hourCycle": "hc", "caseFirst": "kf", "numberingSystem": "nu",
}

// makeLocaleClass returns the class Intl.Locale. An object of this class contains a tag.
func (g *intlGlobal) makeLocaleClass() goja.Value {
	class := &intlClass{name: "Locale"}
	constructor := g.vm.ToValue(func(call goja.ConstructorCall) *goja.Object {
		g.enter()
		defer g.leave()
		made := g.newTargetPrototype("Locale", call.This)
		if made == nil {
			panic(g.newError("TypeError", "Constructor Intl.Locale requires 'new'"))
		}
		tag, ok := localeOf(g.realm, call.Argument(0))
		if object, isObject := call.Argument(0).(*goja.Object); !ok && isObject {
			tag, ok = parseTag(g.realm, object.String()), true
		}
		if !ok {
			panic(g.newError("TypeError", "First argument to Intl.Locale constructor can't be empty or missing"))
		}
		tag, err := intl.NewLocale(tag, optionsOf(g.realm, call.Argument(1)))
		checkIntl(g.realm, err)
		return g.newObject("Locale", tag, made)
	}).(*goja.Object)
	must(constructor.DefineDataProperty("name", g.vm.ToValue("Locale"), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	prototype := constructor.Get("prototype").(*goja.Object)
	g.rememberPrototype("Locale", prototype)
	g.defineLocaleMethods(class, prototype)
	g.defineLocaleGetters(class, prototype)
	must(prototype.DefineDataPropertySymbol(goja.SymToStringTag, g.vm.ToValue("Intl.Locale"), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	return constructor
}

func (g *intlGlobal) defineLocaleMethods(class *intlClass, prototype *goja.Object) {
	likely := func(change func(intl.Tag) (intl.Tag, error)) func(*realm, any, goja.FunctionCall) goja.Value {
		return func(r *realm, value any, _ goja.FunctionCall) goja.Value {
			tag, err := change(value.(intl.Tag))
			checkIntl(g.realm, err)
			return g.newObject("Locale", tag, prototype)
		}
	}
	g.defineMethod(class, prototype, "maximize", likely(intl.Tag.Maximize))
	g.defineMethod(class, prototype, "minimize", likely(intl.Tag.Minimize))
	g.defineMethod(class, prototype, "toString", func(r *realm, value any, _ goja.FunctionCall) goja.Value {
		return g.vm.ToValue(value.(intl.Tag).String())
	})
}

func (g *intlGlobal) defineLocaleGetters(class *intlClass, prototype *goja.Object) {
	getters := map[string]func(intl.Tag) goja.Value{
		"baseName": func(t intl.Tag) goja.Value { return g.vm.ToValue(t.Base()) },
		"language": func(t intl.Tag) goja.Value { return textOrUndefined(g.vm, t.Language) },
		"script":   func(t intl.Tag) goja.Value { return textOrUndefined(g.vm, t.Script) },
		"region":   func(t intl.Tag) goja.Value { return textOrUndefined(g.vm, t.Region) },
		"numeric": func(t intl.Tag) goja.Value {
			value, ok := t.Keyword("kn")
			return g.vm.ToValue(ok && value != "false")
		},
	}
	for name, key := range localeKeywords {
		getters[name] = func(t intl.Tag) goja.Value {
			value, ok := t.Keyword(key)
			if !ok {
				return goja.Undefined()
			}
			return g.vm.ToValue(value)
		}
	}
	for name, get := range getters {
		getter := g.native("get "+name, func(call goja.FunctionCall) goja.Value {
			return get(g.receiver(class, name, call.This).value.(intl.Tag))
		})
		must(prototype.DefineAccessorProperty(name, getter, nil, goja.FLAG_TRUE, goja.FLAG_FALSE))
	}
}
