package js_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/enginetest"
)

func TestThrown(t *testing.T) {
	tests := []struct{ code, message string }{
		{`throw new Error('plain')`, "plain"},
		{`throw new TypeError('typed')`, "TypeError: typed"},
		{`null.x`, "TypeError: Cannot read property 'x' of null or undefined"},
		{`class Mine extends Error { name = 'Mine' } throw new Mine('own')`, "Mine: own"},
		{`throw new Error()`, "Error"},
		{`throw 'text'`, "text"},
		{`throw null`, "the tool threw null"},
		{`throw undefined`, "the tool threw undefined"},
		{`throw 42`, "the tool threw 42"},
		{`throw Symbol('s')`, "the tool threw a symbol"},
		{`throw { a: 1 }`, `the tool threw {"a":1}`},
		{`throw { message: 'like an error' }`, "like an error"},
		{`throw { f() {} }`, "the tool threw an object"},
		{`throw Object.create(null)`, "the tool threw {}"},
		{`throw new Proxy({}, { get() { throw 1; } })`, "the tool threw a value that cannot be described"},
		{`const e = new Error('x'); Object.defineProperty(e, 'message', { get() { throw e; } }); throw e`, "the tool threw a value that cannot be described"},
		{`const e = new Error('x'); e.stack = { toString() { throw e; } }; throw e`, "x"},
		{`return { get a() { throw new Error('in a getter'); } }`, "in a getter"},
		{`return Promise.reject(new Error('rejected'))`, "rejected"},
		{`Promise.reject(new Error('not handled')); return 1`, "not handled"},
		{`Promise.reject('text'); return 1`, "text"},
		{`throw new MemoryAccessError('mine', { code: 'conflict' })`, "MemoryAccessError: mine"},
		{`await memory.get_content('forbidden').catch((e) => { throw new Error('wrapped', { cause: e }); })`, "wrapped"},
		{`await memory.get_content('forbidden').catch((e) => { throw { ...e, message: e.message }; })`, "the tool may not read forbidden"},
		{`await memory.get_content('forbidden').catch((e) => { throw new Proxy(e, {}); })`, "the tool may not read forbidden"},
	}
	for _, tt := range tests {
		f := faultOf(t, tt.code)
		if f.Code != abi.ToolError || f.Message != tt.message || f.ID != "" {
			t.Errorf("Run(%s) = %+v; want tool_error: %s", tt.code, f, tt.message)
		}
	}
	if f := faultOf(t, `throw new Error('ü'.repeat(100000))`); len(f.Message) > 5000 || !strings.HasSuffix(f.Message, "ü…") {
		t.Errorf("message of %d bytes ends in %q; want it cut at a character", len(f.Message), f.Message[len(f.Message)-8:])
	}
}

// TestHints tests the hints for the most common errors.
func TestHints(t *testing.T) {
	tests := []struct{ code, message, hint string }{
		{`return fetch('https://example.com')`, "fetch is not defined", "no network"},
		{`return new WebSocket('wss://example.com')`, "WebSocket is not defined", "no network"},
		{`return document.title`, "document is not defined", "browser"},
		{`return localStorage.getItem('a')`, "localStorage is not defined", "memory.set_content"},
		{`return sessionMeta.customerTier`, "sessionMeta is not defined", "memory.get_content(\"sessionMeta\")"},
		{`return new Worker('x.js')`, "Worker is not defined", "no threads"},
		{`const r = await memory.get_content('empty'); return r.x`, "'x' of null or undefined", "?? {}"},
		{`const {x} = await memory.get_content('empty'); return x`, "null or undefined", "?? {}"},
		{`for (const x of await memory.get_content('empty')) {}`, "null or undefined", "?? {}"},
		{`return Object.keys(await memory.get_content('empty'))`, "null or undefined", "?? {}"},
		{`return 'n' in await memory.get_content('empty')`, "null or undefined", "?? {}"},
		{`const o = {}; return o.a.b`, "'b' of null or undefined", "?.b"},
		{`return memory.getContent('prefs')`, "getContent is not a function", "memory.get_content?"},
		{`return memory.deleteContent('prefs')`, "deleteContent is not a function", "memory.delete_content?"},
	}
	for _, tt := range tests {
		f := faultOf(t, tt.code)
		if f.Code != abi.ToolError || !strings.Contains(f.Message, tt.message) || !strings.Contains(f.Hint, tt.hint) {
			t.Errorf("Run(%s) = %q, hint %q; want %q, hint %q", tt.code, f.Message, f.Hint, tt.message, tt.hint)
		}
	}
	for _, code := range []string{`return nothing`, `({}).walk()`, `throw new Error('plain')`} {
		if f := faultOf(t, code); f.Hint != "" {
			t.Errorf("Run(%s) has the hint %q; want none", code, f.Hint)
		}
	}
}

// A fault can leave the guest in several ways. TestFaultIsKept checks that the fault keeps its
// identity. If the guest copies its error, the copy must not have the identity of the fault.
func TestFaultIsKept(t *testing.T) {
	for _, code := range []string{
		`await memory.get_content('forbidden')`,
		`return memory.get_content('forbidden')`,
		`try { await memory.get_content('forbidden'); } catch (e) { e.code = 'conflict'; e.message = 'mine'; throw e; }`,
		`await Promise.all([memory.get_content('prefs'), memory.get_content('forbidden')])`,
		`await new Promise((_, reject) => memory.get_content('forbidden').catch((e) => setTimeout(reject, 1, e)))`,
		`memory.get_content('forbidden'); await new Promise(() => {});`,
		`const [call] = [memory.get_content('forbidden')]; await null; return 1;`,
	} {
		f := faultOf(t, code)
		if f.Code != abi.AccessDenied || f.ID == "" || f.Message != "the tool may not read forbidden" || f.Hint != "grant it" {
			t.Errorf("Run(%s) = %+v; want the fault of the host", code, f)
		}
	}
}

func TestRejectionHandledLate(t *testing.T) {
	got := answer(t, `
		const call = memory.get_content('forbidden');
		await new Promise((done) => setTimeout(done, 2));
		return await call.catch((e) => e.code);`)
	if got != `"access_denied"` {
		t.Errorf("Run = %s; want the code", got)
	}
}

func TestPositions(t *testing.T) {
	tests := []struct {
		name, code  string
		line        int
		stackWants  []string
		stackForbid string
	}{
		{"own error", "\nfunction inner() {\n  throw new Error('x');\n}\nfunction outer() { inner(); }\nouter();", 3,
			[]string{"inner (tool.js:3:", "outer (tool.js:5:", "tool.js:6:"}, "native"},
		{"made here, thrown there", "\nconst e = new Error('x');\n\nthrow e;", 2, []string{"tool.js:2:"}, "tool.js:4"},
		{"built-in", "\n\nJSON.parse('{');", 3, []string{"tool.js:3:"}, "parse"},
		{"memory", "\nasync function read() {\n  return await memory.get_content('forbidden');\n}\nawait read();", 3,
			[]string{"read (tool.js:3:"}, "memory.js"},
		{"after an await", "\nawait null;\nnull.x;", 3, []string{"tool.js:3:"}, "native"},
		{"stack overflow", "\nfunction f() {\n  f();\n}\nf();", 3, []string{"f (tool.js:3:"}, "native"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := faultOf(t, tt.code)
			if f.File != "tool.js" || f.Line != tt.line || f.Column <= 0 {
				t.Errorf("fault at %s:%d:%d; want tool.js:%d", f.File, f.Line, f.Column, tt.line)
			}
			for _, want := range tt.stackWants {
				if !strings.Contains(f.Stack, want) {
					t.Errorf("stack = %s\nwant %q in it", f.Stack, want)
				}
			}
			if strings.Contains(f.Stack, tt.stackForbid) {
				t.Errorf("stack = %s\nwant no %q in it", f.Stack, tt.stackForbid)
			}
		})
	}
}

func TestStackLimit(t *testing.T) {
	for _, code := range []string{
		`const f = () => f(); f();`,
		`const f = () => [1].map(f); f();`,
		`const f = async () => { await f(); }; await f();`,
		`const o = { get a() { return this.a; } }; return o;`,
		`const o = { toJSON() { return this.toJSON(); } }; return o;`,
		`class E extends Error { get message() { return this.message; } } throw new E();`,
	} {
		if f := faultOf(t, code); f.Code != abi.StackLimit {
			t.Errorf("Run(%s) = %v; want stack_limit", code, f)
		}
	}
	if got := answer(t, `const f = (n) => n === 0 ? 0 : 1 + f(n - 1); return f(400);`); got != "400" {
		t.Errorf("400 nested calls = %s", got)
	}
}

func TestHostErrorIsReturnedUnchanged(t *testing.T) {
	_, err := run(t, `await memory.get_content('halt')`)
	if err != errHalt {
		t.Errorf("Run = %v; want the host's error itself", err)
	}
}

func TestPanicOfTheHost(t *testing.T) {
	var logged any
	program, err := newEngineWithPanics(&logged).Load(t.Context(), engine.Source{
		Path: "tool.js", Code: []byte(`try { await memory.get_content('prefs'); } catch { return 'caught'; }`),
	})
	if err != nil {
		t.Fatal(err)
	}
	host := enginetest.NewMemory(errHalt).Host()
	host.Call = nil
	if _, err := program.Run(t.Context(), engine.Input{}, host); err != nil {
		t.Errorf("Run without a memory = %v; want the fault to be caught", err)
	}
	host.Log = func(abi.Level, string) error { panic("secret") }
	program, err = newEngineWithPanics(&logged).Load(t.Context(), engine.Source{
		Path: "tool.js", Code: []byte(`try { console.log(1); } catch { return 'caught'; }`),
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = program.Run(t.Context(), engine.Input{}, host)
	if !errors.Is(err, abi.Internal) || strings.Contains(err.Error(), "secret") || logged != "secret" {
		t.Errorf("Run = %v, logged %v; want an internal fault, and the panic only in the log", err, logged)
	}
}

func TestEndedBeforeItBegan(t *testing.T) {
	program, err := newEngine(t).Load(t.Context(), engine.Source{Path: "tool.js", Code: []byte(`return 1`)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(abi.Faultf(abi.CallLimit, "enough"))
	if _, err := program.Run(ctx, engine.Input{}, engine.Host{}); !errors.Is(err, abi.CallLimit) {
		t.Errorf("Run = %v; want the cause", err)
	}
}
