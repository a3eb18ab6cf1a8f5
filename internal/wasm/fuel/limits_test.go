package fuel_test

import (
	"reflect"
	"testing"

	"github.com/toolrun/toolrun/internal/wasm/binary"
	"github.com/toolrun/toolrun/internal/wasm/fuel"
)

// TestLimits lowers each limit to the minimum that a module needs. TestLimits then passes the
// module through Parse, Rewrite and Parse.
func TestLimits(t *testing.T) {
	for name, wasm := range map[string][]byte{
		"bare loop": bareLoop(), "fib": fib(), "sum": memorySum(), "mix": mix(), "fills": fills(), "full": full(),
		"loops": sequence(2_000, loop()), "blocks": sequence(6_900, block()),
	} {
		for i := range reflect.TypeFor[binary.Limits]().NumField() {
			lim := tightest(t, wasm, i)
			m, err := binary.Parse(wasm, lim)
			if err != nil {
				t.Fatalf("%s: Parse: %v", name, err)
			}
			rewritten, err := fuel.Rewrite(m, fuel.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err = binary.Parse(rewritten, fuel.Limits(lim)); err != nil {
				t.Errorf("%s with the lowest %s: Parse of the rewritten module: %v", name, reflect.TypeFor[binary.Limits]().Field(i).Name, err)
			}
		}
	}
}

// tightest returns limits in which the field with the given index has the lowest positive value
// that accepts wasm.
func tightest(t *testing.T, wasm []byte, field int) binary.Limits {
	t.Helper()
	lim := binary.Limits{}.WithDefaults()
	value := reflect.ValueOf(&lim).Elem().Field(field)
	low, high := int64(1), value.Int()
	for low < high {
		value.SetInt((low + high) / 2)
		if _, err := binary.Parse(wasm, lim); err == nil {
			high = value.Int()
		} else {
			low = value.Int() + 1
		}
	}
	value.SetInt(low)
	return lim
}

// full returns a module with everything that Rewrite extends. The calls of the module have padded
// indexes.
func full() []byte {
	g := &guest{imports: []binary.Import{{Module: "env", Name: "host"}}}
	g.typ(nil, nil)
	padded := []byte{0x10, 0x80, 0x80, 0x80, 0x80, 0x00}
	for range 4 {
		g.add("f", i32, nil, i32, repeat(100, padded), loop(loop(call(0)), loop(num(0), num(0), num(0), fill())), num(0), grow(), op(0x1a))
	}
	return g.bytes()
}

// sequence returns a module with a function that contains the code n times.
func sequence(n int, code []byte) []byte {
	g := &guest{}
	g.add("run", nil, nil, nil, repeat(n, code))
	return g.bytes()
}
