package js

import (
	"slices"
	"strings"

	"github.com/dop251/goja"

	"github.com/toolrun/toolrun/host/engine/js/internal/ieee754"
	"github.com/toolrun/toolrun/internal/lazyregexp"
)

// exactMath contains a replacement for each function of Math for which goja and V8 return different
// last digits.
var exactMath = map[string]func(float64) float64{
	"acos": ieee754.Acos, "acosh": ieee754.Acosh, "asin": ieee754.Asin, "asinh": ieee754.Asinh, "atan": ieee754.Atan,
	"cbrt": ieee754.Cbrt, "cos": ieee754.Cos, "cosh": ieee754.Cosh, "exp": ieee754.Exp, "log": ieee754.Log,
	"log10": ieee754.Log10, "log2": ieee754.Log2, "sin": ieee754.Sin, "sinh": ieee754.Sinh, "tan": ieee754.Tan, "tanh": ieee754.Tanh,
}

// inexactNames matches the names of the functions of Math for which goja and V8 return different
// results.
var inexactNames = lazyregexp.New(`\b(?:a?(?:sin|cos)h?|tanh?|atan2?|exp|log(?:2|10)?|cbrt|pow)\b`)

// mathNames returns the names in a tool's code that inexactNames matches. A tool that computes the
// name of a function at run time gets goja's function.
func mathNames(code string) []string {
	if !strings.Contains(code, "Math") {
		return nil
	}
	names := inexactNames().FindAllString(code, -1)
	slices.Sort(names)
	return slices.Compact(names)
}

// replaceMath replaces functions of goja's Math with our own functions.
func replaceMath(r *realm, names []string) {
	object := r.vm.GlobalObject().Get("Math").(*goja.Object)
	for _, name := range names {
		length, call := 1, nativeFunc(nil)
		switch name {
		case "pow":
			length, call = 2, func(call goja.FunctionCall) goja.Value { return power(r, call) }
		case "atan2":
			length, call = 2, func(call goja.FunctionCall) goja.Value {
				y, x := call.Argument(0).ToFloat(), call.Argument(1).ToFloat()
				return r.vm.ToValue(ieee754.Atan2(y, x))
			}
		default:
			f := exactMath[name]
			call = func(call goja.FunctionCall) goja.Value { return r.vm.ToValue(f(call.Argument(0).ToFloat())) }
		}
		function := r.native(name, call)
		must(function.DefineDataProperty("length", r.vm.ToValue(length), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE))
		must(object.DefineDataProperty(name, function, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	}
}

// power implements Math.pow. power accepts BigInts, because esbuild compiles the operator ** to
// Math.pow.
func power(r *realm, call goja.FunctionCall) goja.Value {
	x, y := call.Argument(0), call.Argument(1)
	if mayBeBig(x) || mayBeBig(y) {
		operator, err := r.vm.RunProgram(powerOperator())
		must(err)
		return r.call(operator.(*goja.Object), goja.Undefined(), x, y)
	}
	base, exponent := x.ToFloat(), y.ToFloat()
	return r.vm.ToValue(ieee754.Pow(base, exponent))
}

func mayBeBig(v goja.Value) bool {
	_, isObject := v.(*goja.Object)
	return isObject || goja.IsBigInt(v)
}

var powerOperator = lazyProgram("toolrun:power", "(function (x, y) { return x ** y })", false)
