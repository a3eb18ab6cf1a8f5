package ieee754_test

import (
	_ "embed"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host/engine/js/internal/ieee754"
)

//go:embed testdata/v8.txt
var v8 string

var functions = map[string]func(float64) float64{
	"acos": ieee754.Acos, "acosh": ieee754.Acosh, "asin": ieee754.Asin, "asinh": ieee754.Asinh, "atan": ieee754.Atan, "cbrt": ieee754.Cbrt,
	"cos": ieee754.Cos, "cosh": ieee754.Cosh, "exp": ieee754.Exp, "log": ieee754.Log, "log10": ieee754.Log10, "log2": ieee754.Log2,
	"sin": ieee754.Sin, "sinh": ieee754.Sinh, "tan": ieee754.Tan, "tanh": ieee754.Tanh,
	"atanh": math.Atanh, "expm1": math.Expm1, "log1p": math.Log1p, // Go's own functions
}

var functions2 = map[string]func(x, y float64) float64{"atan2": ieee754.Atan2, "pow": ieee754.Pow}

func TestAsV8(t *testing.T) {
	checked := map[string]int{}
	for line := range strings.Lines(v8) {
		fields := strings.Fields(line)
		if fields[0] == "#" {
			continue
		}
		x, y, want := double(t, fields[1]), double(t, fields[2]), double(t, fields[3])
		var got float64
		if f := functions[fields[0]]; f != nil {
			got = f(x)
		} else {
			got = functions2[fields[0]](x, y)
		}
		if math.Float64bits(got) != math.Float64bits(want) && (got == got || want == want) {
			t.Errorf("%s(%v, %v) = %v; want %v", fields[0], x, y, got, want)
		}
		checked[fields[0]]++
	}
	if len(checked) != len(functions)+len(functions2) {
		t.Errorf("checked %v; want all functions", checked)
	}
}

func double(t *testing.T, bits string) float64 {
	t.Helper()
	n, err := strconv.ParseUint(bits, 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	return math.Float64frombits(n)
}
