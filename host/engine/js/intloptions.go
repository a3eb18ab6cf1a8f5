package js

import (
	"github.com/dop251/goja"

	"github.com/toolrun/toolrun/host/engine/js/internal/intl"
)

// intlOptions reads the object in which a guest passes options. When an option is read, a getter of
// the guest can run.
type intlOptions struct {
	realm  *realm
	object *goja.Object // the object with the options; nil if the caller passed none
}

var _ intl.Options = (*intlOptions)(nil)

// optionsOf converts an optional argument to an object, in the same way as ToObject.
func optionsOf(r *realm, value goja.Value) *intlOptions {
	if isUndefined(value) {
		return &intlOptions{r, nil}
	}
	return &intlOptions{r, value.ToObject(r.vm)}
}

// strictOptionsOf does the same as optionsOf. However, if the value is not an object,
// strictOptionsOf rejects it. The newer classes of Intl use strictOptionsOf.
func strictOptionsOf(r *realm, value goja.Value) *intlOptions {
	if _, ok := value.(*goja.Object); !ok && !isUndefined(value) {
		panic(r.newError("TypeError", "Incorrect options: an object is required"))
	}
	return optionsOf(r, value)
}

func (o *intlOptions) get(name string) (goja.Value, bool) {
	if o.object == nil {
		return nil, false
	}
	value := o.object.Get(name)
	return value, !isUndefined(value)
}

// Text returns the value of an option as a string.
func (o *intlOptions) Text(name string) (string, bool) {
	value, ok := o.get(name)
	if !ok {
		return "", false
	}
	if _, symbol := value.(*goja.Symbol); symbol {
		panic(o.realm.newError("TypeError", "Cannot convert a Symbol value to a string"))
	}
	return value.String(), true
}

// Bool returns the value of an option as a boolean.
func (o *intlOptions) Bool(name string) (value, ok bool) {
	v, ok := o.get(name)
	return ok && v.ToBoolean(), ok
}

// Number returns the value of an option as a number.
func (o *intlOptions) Number(name string) (float64, bool) {
	value, ok := o.get(name)
	if !ok {
		return 0, false
	}
	return value.ToNumber().ToFloat(), true
}

// BoolOrText returns the value of an option. The value can be a boolean or a string. A falsy value,
// such as null or 0, counts as the boolean false.
func (o *intlOptions) BoolOrText(name string) (text string, isBool, ok bool) {
	value, ok := o.get(name)
	if !ok {
		return "", false, false
	}
	if !value.ToBoolean() {
		return "false", true, true
	}
	if b, boolean := value.Export().(bool); boolean && b {
		return "true", true, true
	}
	text, _ = o.Text(name)
	return text, false, true
}
