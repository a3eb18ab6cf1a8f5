package js_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/enginetest"
)

var errHalt = errors.New("the host had enough")

// run executes a script once. The script has a new, empty memory.
func run(t testing.TB, code string) (engine.Output, error) {
	t.Helper()
	return runWith(t, code, engine.Input{}, enginetest.NewMemory(errHalt))
}

func runWith(t testing.TB, code string, in engine.Input, m *enginetest.Memory) (engine.Output, error) {
	t.Helper()
	program, err := newEngine(t).Load(t.Context(), engine.Source{Path: "tool.js", Code: []byte(code)})
	if err != nil {
		t.Fatalf("Load(%s) = %v", code, err)
	}
	defer program.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	return program.Run(ctx, in, m.Host())
}

// answer executes a script. It returns the output of the script as a string.
func answer(t testing.TB, code string) string {
	t.Helper()
	out, err := run(t, code)
	if err != nil {
		t.Fatalf("Run(%s) = %v", code, err)
	}
	return string(out.Output)
}

// faultOf executes a script. It returns the fault of the script.
func faultOf(t testing.TB, code string) *abi.Fault {
	t.Helper()
	out, err := run(t, code)
	fault, ok := err.(*abi.Fault)
	if !ok {
		t.Fatalf("Run(%s) = %s, %v; want a fault", code, out.Output, err)
	}
	return fault
}

// logged executes a script. It returns the log lines of the script, without their levels.
func logged(t testing.TB, code string) []string {
	t.Helper()
	m := enginetest.NewMemory(errHalt)
	if _, err := runWith(t, code, engine.Input{}, m); err != nil {
		t.Fatalf("Run(%s) = %v", code, err)
	}
	var lines []string
	for _, line := range m.Logs() {
		lines = append(lines, line.Text)
	}
	return lines
}

func TestContext(t *testing.T) {
	const before = `{"env":{"KEY":"v"},"appId":"a","big":12345678901234567890,"list":[1, 2.50],"html":"\u003c"}`
	tests := []struct{ name, code, output, context string }{
		{"untouched", `return 1`, `1`, ``},
		{"read", `return [env.KEY, context.env.KEY, env === context.env]`, `["v","v",true]`, ``},
		{"set to what it was", `context.appId = "a"; context.list = [1, 2.5]`, `null`, ``},
		{"added", `context.x = { y: new Date(0) }`, `null`, `{"x":{"y":"1970-01-01T00:00:00.000Z"}}`},
		{"changed inside", `context.env.KEY = "w"`, `null`, `{"env":{"KEY":"w"}}`},
		{"deleted", `delete context.appId; context.list = undefined`, `null`, ``},
		{"a key that prototypes have", `context.toString = "x"`, `null`, `{"toString":"x"}`},
		{"named proto", `Object.defineProperty(context, "__proto__", { value: 1, enumerable: true })`, `null`, `{"__proto__":1}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, err := runWith(t, tt.code, engine.Input{Context: json.RawMessage(before)}, enginetest.NewMemory(errHalt))
			if err != nil {
				t.Fatal(err)
			}
			if string(out.Output) != tt.output || string(out.Context) != tt.context {
				t.Errorf("Run = %s, context %s; want %s, context %s", out.Output, out.Context, tt.output, tt.context)
			}
		})
	}
}

func TestContextRefused(t *testing.T) {
	for code, want := range map[string]string{
		`context.f = { g: [() => 1] }`: "context.f.g[0] is a function",
		`context.branch = "left"`:      "context.branch is reserved for the workflow",
		`context.status = 1`:           "context.status is reserved for the workflow",
		`context.dbquery = ""`:         "context.dbquery is reserved for the workflow",
		`let deep = []; for (let i = 0; i < 150; i++) deep = [deep]; context.deep = deep`: "context.deep is nested too deep",
	} {
		if f := faultOf(t, code); f.Code != abi.OutputInvalid || !strings.Contains(f.Message, want) {
			t.Errorf("Run(%s) = %v; want output_invalid: %s", code, f, want)
		}
	}
}

func TestWarnings(t *testing.T) {
	out, err := run(t, `async function store() { await memory.set_content('prefs', {}); }`)
	if err != nil || string(out.Output) != "null" || len(out.Warnings) == 0 {
		t.Errorf("Run = %s, %v, warnings %q; want null and a warning", out.Output, err, out.Warnings)
	}
}

func TestInputIsNotAnObject(t *testing.T) {
	for _, text := range []string{`1`, `null`, `{`, strings.Repeat(`{"a":`, 2000) + `1` + strings.Repeat(`}`, 2000)} {
		_, err := runWith(t, `return 1`, engine.Input{Input: json.RawMessage(text)}, enginetest.NewMemory(errHalt))
		if !errors.Is(err, abi.InputInvalid) {
			t.Errorf("Run with input %.20s = %v; want input_invalid", text, err)
		}
	}
}

func TestTimers(t *testing.T) {
	tests := []struct{ name, code, want string }{
		{"order", `
			const seen = [];
			setTimeout(() => seen.push('late'), 2);
			setTimeout((a, b) => seen.push(a + b), 0, 'x', 'y');
			setImmediate((a) => seen.push(a), 'immediate');
			Promise.resolve().then(() => seen.push('job'));
			queueMicrotask(() => seen.push('microtask'));
			seen.push('sync');
			await new Promise((done) => setTimeout(done, 5));
			return seen;`, `["sync","job","microtask","xy","immediate","late"]`},
		{"interval", `
			let n = 0;
			return await new Promise((done) => {
				const id = setInterval(() => { if (++n === 3) { clearInterval(id); done(n); } }, 0);
			});`, `3`},
		{"cleared", `
			const id = setTimeout(() => { throw new Error('cleared'); }, 1);
			clearTimeout(id); clearTimeout(id); clearTimeout(undefined); clearTimeout({}); clearTimeout(99);
			await new Promise((done) => setTimeout(done, 3));
			return 'ok';`, `"ok"`},
		{"dropped at the end", `setTimeout(() => { throw new Error('too late'); }, 0); return 'done';`, `"done"`},
		{"thenable", `return { then(done) { done('then'); } };`, `"then"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := answer(t, tt.code); got != tt.want {
				t.Errorf("Run = %s; want %s", got, tt.want)
			}
		})
	}
	for _, code := range []string{
		`setTimeout(() => { throw new Error('in a timer'); }, 0); await new Promise(() => {});`,
		`queueMicrotask(() => { throw new Error('in a timer'); }); await null;`,
	} {
		if f := faultOf(t, code); f.Code != abi.ToolError || f.Message != "in a timer" {
			t.Errorf("Run(%s) = %v; want tool_error: in a timer", code, f)
		}
	}
}

func contextWithTimeout(t testing.TB, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(t.Context(), d)
}
