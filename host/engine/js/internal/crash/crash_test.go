package crash_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dop251/goja"

	"github.com/toolrun/toolrun/host/engine/js/internal/crash"
)

// emptied is a script that makes goja panic. The script sorts an array with a comparison function
// that empties the array.
const emptied = `const a = [3, 2, 1]; a.sort((x, y) => { a.length = 0; return x - y; });`

// run executes a script and returns the resulting crash. In the script, the function "ours" calls a
// Go function of this test.
func run(code string, ours func()) (c *crash.Crash) {
	defer func() { c = crash.Of(recover()) }()
	vm := goja.New()
	call := func(goja.FunctionCall) goja.Value {
		ours()
		return goja.Undefined()
	}
	if err := vm.Set("ours", call); err != nil {
		panic(err)
	}
	_, _ = vm.RunString(code)
	return nil
}

func TestOrigin(t *testing.T) {
	// deferred throws x and runs code while the stack unwinds. goja also runs code during unwinding
	// to close the iterators of a loop.
	deferred := func(x, code string) string {
		return `const it = { [Symbol.iterator]: () => ({ next: () => ({ done: false }), return() { ` + code + ` } }) };
			for (const _ of it) { ` + x + ` }`
	}
	deep := func(code string) string {
		return `const f = (n) => { if (n) [1].forEach(() => f(n - 1)); else { ` + code + ` } }; f(400);`
	}
	for name, tt := range map[string]struct {
		code string
		goja bool
	}{
		"goja":                         {emptied, true},
		"a function that goja calls":   {`BigInt.asUintN(2 ** 53 - 1, -1n)`, true},
		"goja in a job":                {`(async () => { await null; ` + emptied + ` })()`, true},
		"goja in a deep stack":         {deep(emptied), true},
		"ours":                         {`ours()`, false},
		"ours in a job":                {`(async () => { await null; ours(); })()`, false},
		"ours in a deep stack":         {deep(`ours()`), false},
		"ours from goja":               {`[2, 1].sort(() => { ours(); })`, false},
		"goja after a throw":           {deferred(`throw 1`, emptied), true},
		"goja after a throw of ours":   {deferred(`ours()`, emptied), true},
		"ours after a throw of goja":   {deferred(`null.x`, `ours()`), false},
		"ours after another of goja's": {deferred(`throw 1`, deferred(`throw 2`, `ours()`)), false},
	} {
		t.Run(name, func(t *testing.T) {
			calls := 0
			c := run(tt.code, func() {
				if calls++; strings.Contains(name, "throw of ours") {
					panic(goja.New().ToValue("a value that a script may catch"))
				}
				panic(fmt.Errorf("a bug of ours"))
			})
			if c == nil {
				t.Fatal("nothing panicked")
			}
			if c.Goja != tt.goja || len(c.Stack) == 0 {
				t.Errorf("Goja = %v; want %v, of %v\n%s", c.Goja, tt.goja, c.Value, c.Stack)
			}
		})
	}
}

func TestRepeatedPanic(t *testing.T) {
	first := run(emptied, nil)
	defer func() {
		if got := crash.Of(recover()); got != first {
			t.Errorf("Of a crash = %+v; want the crash itself", got)
		}
	}()
	panic(first)
}

func TestNoPanic(t *testing.T) {
	if c := run(`1`, nil); c != nil {
		t.Errorf("Of(nil) = %+v; want nil", c)
	}
}

func Example() {
	try := func(f func()) (origin string) {
		defer func() {
			if c := crash.Of(recover()); c != nil && c.Goja {
				origin = "goja's"
			} else if c != nil {
				origin = "ours"
			}
		}()
		f()
		return "none"
	}
	fmt.Println(try(func() { _, _ = goja.New().RunString(`BigInt.asUintN(2 ** 53 - 1, -1n)`) }))
	fmt.Println(try(func() { panic("a bug") }))
	// Output:
	// goja's
	// ours
}
