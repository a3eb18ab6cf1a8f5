package js_test

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/enginetest"
)

// emptied is a script that makes goja panic. The script sorts an array with a comparison function
// that empties the array.
const emptied = `const a = [3, 2, 1];
	a.sort((x, y) => { a.length = 0; return x - y; });`

// TestPanicOfGoja checks that a panic of goja ends the tool but not the host, and that the host
// logs the panic.
func TestPanicOfGoja(t *testing.T) {
	for _, code := range []string{
		emptied,
		`return String(BigInt.asUintN(2 ** 53 - 1, -1n))`,
		`try { ` + emptied + ` } catch { return 1 } finally { return 2 }`,
		`await null; ` + emptied,
		`setTimeout(() => { ` + emptied + ` }, 0); await new Promise(() => {})`,
		`return { get x() { ` + emptied + ` } }`,
		`context.x = { toJSON() { ` + emptied + ` } }`,
		`return { get then() { ` + emptied + ` } }`,
		`throw { get message() { ` + emptied + ` } }`,
		`await memory.set_content('prefs', { get x() { ` + emptied + ` } })`,
		`console.log(new Proxy({}, { ownKeys() { ` + emptied + ` } }))`,
		`JSON.parse('[1]', () => { ` + emptied + ` })`,
	} {
		var logged any
		fault := panicked(t, &logged, code, enginetest.NewMemory(errHalt).Host())
		if fault.Code != abi.ToolError || !strings.Contains(fault.Message, "could not execute the code") || fault.Hint == "" {
			t.Errorf("Run(%s) = %v, hint %q; want tool_error", code, fault, fault.Hint)
		}
		if logged == nil {
			t.Errorf("Run(%s) logged no panic", code)
		}
	}
}

// TestPanicAfterHalt tests a run that the host ends with an interrupt. If goja panics before goja
// handles the interrupt, the run reports the host's error.
func TestPanicAfterHalt(t *testing.T) {
	var logged any
	program, err := newEngineWithPanics(&logged).Load(t.Context(), engine.Source{Path: "tool.js", Code: []byte(`
		const valueOf = memory.get_content.bind(null, 'halt'), toString = Number.prototype.valueOf.bind(2 ** 53 - 1);
		return String(BigInt.asUintN({ valueOf, toString }, -1n));`)})
	if err != nil {
		t.Fatal(err)
	}
	_, err = program.Run(t.Context(), engine.Input{}, enginetest.NewMemory(errHalt).Host())
	if err != errHalt || logged == nil {
		t.Errorf("Run = %v, logged %v; want the host's error, and a panic", err, logged)
	}
}

// TestPanicOfTheHostBehindGoja checks that a panic in host code is an internal fault, even if goja
// called the host code.
func TestPanicOfTheHostBehindGoja(t *testing.T) {
	host := enginetest.NewMemory(errHalt).Host()
	host.Log = func(abi.Level, string) error { panic("secret") }
	for _, code := range []string{
		`[2, 1].sort(() => { console.log(1); })`,
		`return { toJSON() { console.log(1); } }`,
		`for (const _ of { [Symbol.iterator]: () => ({ next: () => ({}), return() { console.log(1); } }) }) throw 1;`,
	} {
		var logged any
		if fault := panicked(t, &logged, code, host); fault.Code != abi.Internal || logged != "secret" {
			t.Errorf("Run(%s) = %v, logged %v; want internal", code, fault, logged)
		}
	}
}

// panicked runs a script that causes a panic and returns the fault of the run.
func panicked(t *testing.T, logged *any, code string, host engine.Host) *abi.Fault {
	t.Helper()
	program, err := newEngineWithPanics(logged).Load(t.Context(), engine.Source{Path: "tool.js", Code: []byte(code)})
	if err != nil {
		t.Fatalf("Load(%s) = %v", code, err)
	}
	defer program.Close()
	out, err := program.Run(t.Context(), engine.Input{}, host)
	fault, ok := err.(*abi.Fault)
	if !ok {
		t.Fatalf("Run(%s) = %s, %v; want a fault", code, out.Output, err)
	}
	return fault
}

func TestPanicOfGojaInLoad(t *testing.T) {
	const raw = "\nString.raw`\\u{10ffff}`;\n"
	for path, code := range map[string]string{"body.js": raw + "return 1;", "module.js": raw + "export default () => 1;"} {
		var logged any
		_, err := newEngineWithPanics(&logged).Load(t.Context(), engine.Source{Path: path, Code: []byte(code)})
		fault, ok := errors.AsType[*abi.Fault](err)
		if !ok || fault.Code != abi.SourceInvalid || fault.File != path || logged == nil {
			t.Errorf("Load(%s) = %v, logged %v; want source_invalid, and the panic in the log", path, err, logged)
		}
	}
}

// TestLastCodePoint tests the escape of the last code point in a string, which makes goja panic.
func TestLastCodePoint(t *testing.T) {
	const code = "const o = { '\\u{10ffff}': 1, '\U0010ffff!': 2, 𠮷: 3 };\n" +
		"return [\"\\u{10ffff}\".length, `\\u{10FFFF}${1}`, '\\udbff\\udfff'.codePointAt(0), /^[\\u{10000}-\\u{10FFFF}]$/u.test('😀'), /^😀+$/u.test('😀😀'), o, o.𠮷];"
	want := "[2,\"\U0010ffff1\",1114111,true,true,{\"\U0010ffff\":1,\"\U0010ffff!\":2,\"𠮷\":3},3]"
	if got := answer(t, code); got != want {
		t.Errorf("Run = %s; want %s", got, want)
	}
	program, err := newEngine(t).Load(t.Context(), engine.Source{Path: "tool.js", Code: []byte(
		`import { last } from './last.js'; export default () => last;`,
	), Files: fstest.MapFS{"last.js": {Data: []byte(`export const last = '\u{10ffff}';`)}}})
	if err != nil {
		t.Fatal(err)
	}
	if out, err := program.Run(t.Context(), engine.Input{}, engine.Host{}); err != nil || string(out.Output) != "\"\U0010ffff\"" {
		t.Errorf("Run = %s, %v; want the text", out.Output, err)
	}
	if got := answer(t, `const 𠮷 = '\u{10fffe}'.length; return 𠮷;`); got != "2" {
		t.Errorf("Run = %s; want 2", got)
	}
}
