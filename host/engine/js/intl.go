package js

import (
	"bytes"
	"errors"
	"reflect"

	"github.com/dop251/goja"

	"github.com/toolrun/toolrun/host/engine/js/internal/intl"
)

// localising finds the names of the functions that depend on a locale. Only runs of tools with one of them in their
// code replace those of goja, which ignore locales; to do so in every run would slow all tools.
var localising = lazyRegexp(`ocale|Intl`)

// namesLocale is localising for the input of a run, which may hold such a name for the tool to call. An expression takes
// several times as long.
func namesLocale(input []byte) bool {
	return bytes.Contains(input, []byte("ocale")) || bytes.Contains(input, []byte("Intl"))
}

// intlClass is a class of Intl: how its objects are made, and their methods. A method whose name begins with "get " is
// the getter of a method that is tied to its object.
type intlClass struct {
	name    string
	make    func(r *run, locales []intl.Tag, options goja.Value) any
	methods map[string]func(r *run, value any, call goja.FunctionCall) goja.Value
	needNew bool // it cannot be called without new
}

// intlObject is an object of a class of Intl. To the guest it is an object without members of its own.
type intlObject struct {
	lazyObject
	class string
	value any
	bound goja.Value // the method that its getter made
}

var intlObjectType = reflect.TypeFor[*intlObject]()

// makeIntl makes the global.
func (r *run) makeIntl() goja.Value {
	members := map[string]func() goja.Value{
		"getCanonicalLocales": func() goja.Value { return r.native("getCanonicalLocales", r.canonicalLocales) },
		"supportedValuesOf":   func() goja.Value { return r.native("supportedValuesOf", r.supportedValues) },
	}
	names := []string{"getCanonicalLocales", "supportedValuesOf"}
	for _, class := range intlClasses {
		names = append(names, class.name)
		members[class.name] = func() goja.Value { return r.makeIntlClass(class) }
	}
	members["Locale"] = r.makeLocaleClass
	return r.lazyObject(append(names, "Locale"), members)
}

// madePrototype is the prototype of what new made for a constructor. It is nil where the constructor was called without new:
// goja then passes on what it was called on.
func (r *run) madePrototype(class string, this *goja.Object) *goja.Object {
	made := this.Prototype()
	p := made
	for range maxPrototypes { // a proxy has as many as it likes
		if p == nil || p == r.intlPrototypes[class] {
			break
		}
		p = p.Prototype()
	}
	if p != r.intlPrototypes[class] {
		return nil
	}
	return made
}

// maxPrototypes bounds a search in a chain of prototypes.
const maxPrototypes = 100

func (r *run) rememberPrototype(class string, prototype *goja.Object) {
	if r.intlPrototypes == nil {
		r.intlPrototypes = make(map[string]*goja.Object)
	}
	r.intlPrototypes[class] = prototype
}

func (r *run) makeIntlClass(class *intlClass) goja.Value {
	constructor := r.vm.ToValue(func(call goja.ConstructorCall) *goja.Object {
		r.enter()
		defer r.leave()
		prototype := r.madePrototype(class.name, call.This)
		if prototype == nil && class.needNew {
			panic(r.newError("TypeError", "Constructor Intl."+class.name+" requires 'new'"))
		}
		if prototype == nil {
			prototype = r.intlPrototypes[class.name]
		}
		value := class.make(r, r.localeList(call.Argument(0)), call.Argument(1))
		return r.newIntlObject(class.name, value, prototype)
	}).(*goja.Object)
	must(constructor.DefineDataProperty("name", r.vm.ToValue(class.name), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	r.defineHidden(constructor, "supportedLocalesOf", r.native("supportedLocalesOf", r.supportedLocales))
	prototype := constructor.Get("prototype").(*goja.Object)
	r.rememberPrototype(class.name, prototype)
	for name, method := range class.methods {
		r.defineIntlMethod(class, prototype, name, method)
	}
	must(prototype.DefineDataPropertySymbol(goja.SymToStringTag, r.vm.ToValue("Intl."+class.name), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	return constructor
}

func (r *run) newIntlObject(class string, value any, prototype *goja.Object) *goja.Object {
	object := r.vm.NewDynamicObject(&intlObject{class: class, value: value})
	r.setPrototype(object, prototype)
	return object
}

func (r *run) defineIntlMethod(class *intlClass, prototype *goja.Object, name string, method func(*run, any, goja.FunctionCall) goja.Value) {
	if getter, ok := cutGetter(name); ok {
		get := r.native(name, func(call goja.FunctionCall) goja.Value {
			object := r.intlThis(class, getter, call.This)
			if object.bound == nil {
				object.bound = r.native("", func(call goja.FunctionCall) goja.Value { return method(r, object.value, call) })
			}
			return object.bound
		})
		must(prototype.DefineAccessorProperty(getter, get, nil, goja.FLAG_TRUE, goja.FLAG_FALSE))
		return
	}
	r.defineHidden(prototype, name, r.native(name, func(call goja.FunctionCall) goja.Value {
		return method(r, r.intlThis(class, name, call.This).value, call)
	}))
}

// cutGetter takes "get " from a name.
func cutGetter(name string) (string, bool) {
	const prefix = "get "
	if len(name) > len(prefix) && name[:len(prefix)] == prefix {
		return name[len(prefix):], true
	}
	return name, false
}

// intlThis is the object that a method is called on.
func (r *run) intlThis(class *intlClass, method string, this goja.Value) *intlObject {
	if object := intlObjectOf(this, class.name); object != nil {
		return object
	}
	panic(r.newError("TypeError", "Method Intl."+class.name+".prototype."+method+" called on incompatible receiver"))
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

// defineHidden gives an object a member that is not enumerable, as those of the language are.
func (r *run) defineHidden(o *goja.Object, name string, value goja.Value) {
	must(o.DefineDataProperty(name, value, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
}

// intlFailed throws an error of package intl in the guest.
func (r *run) intlFailed(err error) {
	if refused, ok := errors.AsType[*intl.Error](err); ok {
		panic(r.newError(refused.Kind, refused.Message))
	}
	if err != nil {
		panic(err)
	}
}

// maxLocales bounds a list of locales, which no interrupt ends the reading of.
const maxLocales = 200

// localeList reads the argument locales.
func (r *run) localeList(value goja.Value) (tags []intl.Tag) {
	if isUndefined(value) {
		return nil
	}
	if tag, ok := r.localeOf(value); ok {
		return []intl.Tag{tag}
	}
	list := value.ToObject(r.vm)
	length := list.Get("length")
	if isUndefined(length) || length.ToInteger() <= 0 {
		return nil
	}
	n := length.ToInteger()
	if n > maxLocales {
		panic(r.newError("RangeError", "a list of locales has more than 200 entries"))
	}
	seen := map[string]bool{}
	for i := range int(n) {
		entry := list.Get(r.vm.ToValue(i).String())
		if isUndefined(entry) {
			continue
		}
		tag, ok := r.localeOf(entry)
		if object, isObject := entry.(*goja.Object); !ok && isObject {
			tag, ok = r.parseTag(object.String()), true
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

// localeOf reads a locale that is a string or an Intl.Locale.
func (r *run) localeOf(value goja.Value) (intl.Tag, bool) {
	if object := intlObjectOf(value, "Locale"); object != nil {
		return object.value.(intl.Tag), true
	}
	if text, ok := value.(goja.String); ok {
		return r.parseTag(text.String()), true
	}
	return intl.Tag{}, false
}

func (r *run) parseTag(text string) intl.Tag {
	tag, err := intl.ParseTag(text)
	if err != nil {
		panic(r.newError("RangeError", "Incorrect locale information provided"))
	}
	return tag
}

func (r *run) canonicalLocales(call goja.FunctionCall) goja.Value {
	texts := []string{}
	for _, tag := range r.localeList(call.Argument(0)) {
		texts = append(texts, tag.String())
	}
	return r.mustParse(texts)
}

func (r *run) supportedLocales(call goja.FunctionCall) goja.Value {
	return r.mustParse(intl.SupportedLocales(r.localeList(call.Argument(0))))
}

func (r *run) supportedValues(call goja.FunctionCall) goja.Value {
	key := call.Argument(0).String()
	values, err := intl.SupportedValues(key)
	r.intlFailed(err)
	return r.mustParse(values)
}

// resolvedOptions makes the object of options in effect.
func (r *run) resolvedOptions(list []intl.Option) goja.Value {
	object := r.vm.NewObject()
	for _, o := range list {
		value := r.vm.ToValue(o.Value)
		if texts, ok := o.Value.([]string); ok {
			value = r.mustParse(texts)
		}
		r.define(object, o.Name, value)
	}
	return object
}

// partList makes an array of parts.
func (r *run) partList(parts []intl.Part) goja.Value {
	list := make([]any, len(parts))
	for i, p := range parts {
		object := r.vm.NewObject()
		r.define(object, "type", r.vm.ToValue(p.Type))
		r.define(object, "value", r.vm.ToValue(p.Value))
		if p.Unit != "" {
			r.define(object, "unit", r.vm.ToValue(p.Unit))
		}
		list[i] = object
	}
	return r.vm.NewArray(list...)
}
