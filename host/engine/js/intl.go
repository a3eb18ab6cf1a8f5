package js

import (
	"bytes"
	"errors"
	"reflect"

	"github.com/dop251/goja"

	"github.com/toolrun/toolrun/host/engine/js/internal/intl"
	"github.com/toolrun/toolrun/internal/lazyregexp"
)

// localeNames matches the names of functions that depend on the locale. goja has these functions,
// but they ignore the locale. If the tool's code contains such a name, a run of the tool replaces
// goja's functions. Replacing these functions in every run would slow down all tools.
var localeNames = lazyregexp.New(`ocale|Intl`)

// namesLocale searches the input of a run for the names that localeNames matches in code. The input
// can contain the name of a function that the tool then calls. namesLocale is several times as fast
// as a regular expression.
func namesLocale(input []byte) bool {
	return bytes.Contains(input, []byte("ocale")) || bytes.Contains(input, []byte("Intl"))
}

// intlClass is a class of Intl. It contains the constructor and the methods of this class. If the
// name of a method begins with "get ", the method is a getter. This getter returns a bound
// function.
type intlClass struct {
	name    string
	make    func(r *realm, locales []intl.Tag, options goja.Value) any
	methods map[string]func(r *realm, value any, call goja.FunctionCall) goja.Value
	needNew bool // if true, the constructor must be called with new
}

// intlObject is an object that belongs to a class of Intl. The guest sees no own members of this
// object.
type intlObject struct {
	lazyObject
	class string
	value any
	bound goja.Value // the bound method; nil before its getter is called
}

var intlObjectType = reflect.TypeFor[*intlObject]()

// intlGlobal is the global "Intl" of the guest.
type intlGlobal struct {
	*realm
	prototypes map[string]*goja.Object // the prototypes of those classes that the guest has used
}

// object creates the global "Intl".
func (g *intlGlobal) object() goja.Value {
	members := map[string]func() goja.Value{
		"getCanonicalLocales": func() goja.Value { return g.native("getCanonicalLocales", g.canonicalLocales) },
		"supportedValuesOf":   func() goja.Value { return g.native("supportedValuesOf", g.supportedValues) },
	}
	names := []string{"getCanonicalLocales", "supportedValuesOf"}
	for _, class := range intlClasses {
		names = append(names, class.name)
		members[class.name] = func() goja.Value { return g.makeClass(class) }
	}
	members["Locale"] = g.makeLocaleClass
	return g.lazyObject(append(names, "Locale"), members)
}

// newTargetPrototype returns the prototype for the object that a constructor creates. If the
// constructor was called without new, goja passes the receiver of the call in place of the new
// target, and newTargetPrototype returns nil.
func (g *intlGlobal) newTargetPrototype(class string, this *goja.Object) *goja.Object {
	made := this.Prototype()
	p := made
	for range maxPrototypes { // if a chain of prototypes contains a proxy, it can be endless
		if p == nil || p == g.prototypes[class] {
			break
		}
		p = p.Prototype()
	}
	if p != g.prototypes[class] {
		return nil
	}
	return made
}

// maxPrototypes is the maximum number of prototypes that a search in a prototype chain visits.
const maxPrototypes = 100

func (g *intlGlobal) rememberPrototype(class string, prototype *goja.Object) {
	if g.prototypes == nil {
		g.prototypes = make(map[string]*goja.Object)
	}
	g.prototypes[class] = prototype
}

func (g *intlGlobal) makeClass(class *intlClass) goja.Value {
	constructor := g.vm.ToValue(func(call goja.ConstructorCall) *goja.Object {
		g.enter()
		defer g.leave()
		prototype := g.newTargetPrototype(class.name, call.This)
		if prototype == nil && class.needNew {
			panic(g.newError("TypeError", "Constructor Intl."+class.name+" requires 'new'"))
		}
		if prototype == nil {
			prototype = g.prototypes[class.name]
		}
		value := class.make(g.realm, localeList(g.realm, call.Argument(0)), call.Argument(1))
		return g.newObject(class.name, value, prototype)
	}).(*goja.Object)
	must(constructor.DefineDataProperty("name", g.vm.ToValue(class.name), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	defineHidden(constructor, "supportedLocalesOf", g.native("supportedLocalesOf", g.supportedLocales))
	prototype := constructor.Get("prototype").(*goja.Object)
	g.rememberPrototype(class.name, prototype)
	for name, method := range class.methods {
		g.defineMethod(class, prototype, name, method)
	}
	must(prototype.DefineDataPropertySymbol(goja.SymToStringTag, g.vm.ToValue("Intl."+class.name), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	return constructor
}

func (g *intlGlobal) newObject(class string, value any, prototype *goja.Object) *goja.Object {
	object := g.vm.NewDynamicObject(&intlObject{class: class, value: value})
	setPrototype(object, prototype)
	return object
}

func (g *intlGlobal) defineMethod(class *intlClass, prototype *goja.Object, name string, method func(*realm, any, goja.FunctionCall) goja.Value) {
	if getter, ok := cutGetter(name); ok {
		get := g.native(name, func(call goja.FunctionCall) goja.Value {
			object := g.receiver(class, getter, call.This)
			if object.bound == nil {
				object.bound = g.native("", func(call goja.FunctionCall) goja.Value { return method(g.realm, object.value, call) })
			}
			return object.bound
		})
		must(prototype.DefineAccessorProperty(getter, get, nil, goja.FLAG_TRUE, goja.FLAG_FALSE))
		return
	}
	defineHidden(prototype, name, g.native(name, func(call goja.FunctionCall) goja.Value {
		return method(g.realm, g.receiver(class, name, call.This).value, call)
	}))
}

// cutGetter removes the prefix "get " from the name of a method.
func cutGetter(name string) (string, bool) {
	const prefix = "get "
	if len(name) > len(prefix) && name[:len(prefix)] == prefix {
		return name[len(prefix):], true
	}
	return name, false
}

// receiver returns the object whose method is called.
func (g *intlGlobal) receiver(class *intlClass, method string, this goja.Value) *intlObject {
	if object := intlObjectOf(this, class.name); object != nil {
		return object
	}
	panic(g.newError("TypeError", "Method Intl."+class.name+".prototype."+method+" called on incompatible receiver"))
}

func intlObjectOf(value goja.Value, class string) *intlObject {
	object, ok := value.(*goja.Object)
	if !ok || object.ExportType() != intlObjectType {
		return nil
	}
	o := object.Export().(*intlObject)
	if o.class != class {
		return nil
	}
	return o
}

// checkIntl throws an error of package intl in the guest.
func checkIntl(r *realm, err error) {
	if refused, ok := errors.AsType[*intl.Error](err); ok {
		panic(r.newError(refused.Kind, refused.Message))
	}
	if err != nil {
		panic(err)
	}
}

// maxLocales is the maximum number of locales in a list. An interrupt cannot stop the loop that
// reads the list.
const maxLocales = 200

// localeList converts the argument "locales" to language tags.
func localeList(r *realm, value goja.Value) (tags []intl.Tag) {
	if isUndefined(value) {
		return nil
	}
	if tag, ok := localeOf(r, value); ok {
		return []intl.Tag{tag}
	}
	list := value.ToObject(r.vm)
	length := list.Get("length")
	if isUndefined(length) || length.ToInteger() <= 0 {
		return nil
	}
	n := length.ToInteger()
	if n > maxLocales {
		panic(r.newError("RangeError", "the list of locales has more than 200 entries"))
	}
	seen := map[string]bool{}
	for i := range int(n) {
		entry := list.Get(r.vm.ToValue(i).String())
		if isUndefined(entry) {
			continue
		}
		tag, ok := localeOf(r, entry)
		if object, isObject := entry.(*goja.Object); !ok && isObject {
			tag, ok = parseTag(r, object.String()), true
		}
		if !ok {
			panic(r.newError("TypeError", "Language ID should be string or object."))
		}
		if !seen[tag.String()] {
			seen[tag.String()] = true
			tags = append(tags, tag)
		}
	}
	return tags
}

// localeOf converts a locale. The locale is a string or an Intl.Locale.
func localeOf(r *realm, value goja.Value) (intl.Tag, bool) {
	if object := intlObjectOf(value, "Locale"); object != nil {
		return object.value.(intl.Tag), true
	}
	if text, ok := value.(goja.String); ok {
		return parseTag(r, text.String()), true
	}
	return intl.Tag{}, false
}

func parseTag(r *realm, text string) intl.Tag {
	tag, err := intl.ParseTag(text)
	if err != nil {
		panic(r.newError("RangeError", "Incorrect locale information provided"))
	}
	return tag
}

func (g *intlGlobal) canonicalLocales(call goja.FunctionCall) goja.Value {
	texts := []string{}
	for _, tag := range localeList(g.realm, call.Argument(0)) {
		texts = append(texts, tag.String())
	}
	return mustParse(g.realm, texts)
}

func (g *intlGlobal) supportedLocales(call goja.FunctionCall) goja.Value {
	return mustParse(g.realm, intl.SupportedLocales(localeList(g.realm, call.Argument(0))))
}

func (g *intlGlobal) supportedValues(call goja.FunctionCall) goja.Value {
	key := call.Argument(0).String()
	values, err := intl.SupportedValues(key)
	checkIntl(g.realm, err)
	return mustParse(g.realm, values)
}

// resolvedOptions returns an object that contains the options in effect.
func resolvedOptions(r *realm, list []intl.Option) goja.Value {
	object := r.vm.NewObject()
	for _, o := range list {
		value := r.vm.ToValue(o.Value)
		if texts, ok := o.Value.([]string); ok {
			value = mustParse(r, texts)
		}
		define(object, o.Name, value)
	}
	return object
}

// partList returns an array that contains the parts.
func partList(r *realm, parts []intl.Part) goja.Value {
	list := make([]any, len(parts))
	for i, p := range parts {
		object := r.vm.NewObject()
		define(object, "type", r.vm.ToValue(p.Type))
		define(object, "value", r.vm.ToValue(p.Value))
		if p.Unit != "" {
			define(object, "unit", r.vm.ToValue(p.Unit))
		}
		list[i] = object
	}
	return r.vm.NewArray(list...)
}
