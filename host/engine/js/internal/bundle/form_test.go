package bundle_test

import (
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host/engine/js/internal/bundle"
)

func TestForms(t *testing.T) {
	type test struct {
		name, path, code, want string
		form                   bundle.Form
		params                 []string
	}
	tests := []test{
		{name: "body", code: `return $a + $b`, want: `3`, form: bundle.Body},
		{name: "body awaits", code: "const x = await Promise.resolve(input.a)\nreturn x", want: `1`, form: bundle.Body},
		{name: "body without return", code: `input.a + 1`, want: `null`, form: bundle.Body},
		{name: "empty", code: ``, want: `null`, form: bundle.Body},
		{name: "only a comment", code: `// nothing`, want: `null`, form: bundle.Body},
		{name: "return in a block", code: `if ($a) { return "yes" }`, want: `"yes"`, form: bundle.Body},
		{name: "return in try", code: `try { throw 1 } catch { return "caught" } finally {}`, want: `"caught"`, form: bundle.Body},
		{name: "return in switch", code: `switch (1) { case 1: for (;;) { return "in" } }`, want: `"in"`, form: bundle.Body},
		{name: "env and context", code: `return [env.REGION, context.runId]`, want: `["eu","r1"]`, form: bundle.Body},
		{name: "names redeclared", code: `const input = 5, context = 6; let env = 7; class $a {}; const b = $b; return [input, context, env, typeof $a, b]`, params: []string{"b"},
			want: `[5,6,7,"function",2]`, form: bundle.Body},
		{name: "var keeps an input", code: `var a = a || 7; var $b = $b || 8; var c = c || 9; return [a, $b, c]`, params: []string{"a", "c"},
			want: `[1,2,9]`, form: bundle.Body},
		{name: "bare parameter", code: `return a * 10`, params: []string{"a", "no-name", "class", "memory", "a"}, want: `10`, form: bundle.Body},
		{name: "inherited names are not inputs", code: `return [typeof $constructor, typeof $toString]`, want: `["undefined","undefined"]`, form: bundle.Body},
		{name: "names in templates", code: "return `${$a}-${`${$b}`}`", want: `"1-2"`, form: bundle.Body},
		{name: "vendor main", code: "function main(x) { return x + 1 }\nreturn main($a)", want: `2`, form: bundle.Body},
		{name: "return beats main", code: "function main() { return 'main' }\nreturn 'body'", want: `"body"`, form: bundle.Body},
		{name: "main", code: `async function main(input, context) { return [input.a, context.runId] }`, want: `[1,"r1"]`, form: bundle.Main},
		{name: "main as an arrow", code: `const main = async ({a}) => a`, want: `1`, form: bundle.Main},
		{name: "main as an expression", code: `let main = function (i) { return i.b }`, want: `2`, form: bundle.Main},
		{name: "main with helpers", code: `const two = 2; function twice(x) { return x * two }
			function main(input) { return twice($b) }`, want: `4`, form: bundle.Main},
		{name: "main with a top level of its own", code: "const prefs = await memory.get_content('userPrefs')\nfunction main() { return prefs.lastVisit }", want: `"now"`, form: bundle.Main},
		{name: "main with a variable named input", code: `const input = 3; function main(given) { return [input, given.a] }`, want: `[3,1]`, form: bundle.Main},
		{name: "execute", code: `async function execute(input, context) { return input.a + 1 }`, want: `2`, form: bundle.Execute},
		{name: "main before execute", code: `function execute() { return main() } function main() { return 'm' }`, want: `"m"`, form: bundle.Main},
		{name: "called by itself", code: `async function main() { logs.push("ran") } await main(); return logs`, want: `["ran"]`, form: bundle.Body},
		{name: "export default", code: `export default async function (input, context) { return input.a }`, want: `1`, form: bundle.Module},
		{name: "export default arrow", code: `export default async ({ b }) => b`, want: `2`, form: bundle.Module},
		{name: "export default name", code: `const tool = (i) => i.a; export default tool`, want: `1`, form: bundle.Module},
		{name: "export default object", code: `export default { n: 5, execute(i) { return i.a + this.n } }`, want: `6`, form: bundle.Module},
		{name: "export main", code: `export async function main(input) { return input.b }`, want: `2`, form: bundle.Module},
		{name: "export const execute", code: `export const execute = async (input) => input.b`, want: `2`, form: bundle.Module},
		{name: "export list", code: `function f(i) { return i.a } export { f as main }`, want: `1`, form: bundle.Module},
		{name: "default before main", code: `export const main = () => "m"; export default () => "d"`, want: `"d"`, form: bundle.Module},
		{name: "module awaits", code: `const p = await memory.get_content("userPrefs"); export default () => p.lastVisit`, want: `"now"`, form: bundle.Module},
		{name: "module.exports", code: `module.exports = async (input) => input.a`, want: `1`, form: bundle.Module},
		{name: "module.exports object", code: `module.exports = { main(input) { return input.b } }`, want: `2`, form: bundle.Module},
		{name: "exports.main", code: `exports.main = (input) => input.a`, want: `1`, form: bundle.Module},
		{name: "module.exports chain", code: `"use strict"; var main = module.exports = exports = function main(i) { return i.a }; module.exports.execute = 1`, want: `1`, form: bundle.Module},
		{name: "compiled to CommonJS", code: `"use strict"; Object.defineProperty(exports, "__esModule", { value: true }); exports.default = (i) => i.b`, want: `2`, form: bundle.Module},
		{name: "exports.handler", code: `exports.handler = async (event, context) => [event.a, context.runId]`, want: `[1,"r1"]`, form: bundle.Module},
		{name: "module.exports.handler", code: `module.exports.handler = (event) => event.b`, want: `2`, form: bundle.Module},
		{name: "module.exports of a handler", code: `const handler = async (event) => event.b; module.exports = { handler }`, want: `2`, form: bundle.Module},
		{name: "export handler", code: `export const handler = async (event) => event.a`, want: `1`, form: bundle.Module},
		{name: "export handler function", code: `export async function handler(event) { return event.a }`, want: `1`, form: bundle.Module},
		{name: "handler with a callback", code: `exports.handler = (event, context, callback) => { Promise.resolve().then(() => callback(null, [event.a, context.runId])) }`, want: `[1,"r1"]`, form: bundle.Module},
		{name: "handler that ignores its callback", code: `exports.handler = async (event, context, callback) => event.a`, want: `1`, form: bundle.Module},
		{name: "typescript handler", path: "t.ts", code: `type E = { a: number }; export const handler = async (event: E): Promise<number> => event.a`, want: `1`, form: bundle.Module},
		{name: "main before handler", code: `exports.handler = () => "h"; exports.main = () => "m"`, want: `"m"`, form: bundle.Module},
		{name: "hashbang", code: "#!/usr/bin/env node\nreturn $a", want: `1`, form: bundle.Body},
		{name: "byte order mark", code: "\uFEFFreturn $a", want: `1`, form: bundle.Body},
		{name: "line ends of Windows", code: "const x = $a\r\nreturn x\r\n", want: `1`, form: bundle.Body},
		{name: "sloppy", code: `total = 0; with ({ one: 1 }) { total += one } return total + 010`, want: `9`, form: bundle.Body},
		{name: "comment at the end", code: `return $a // done`, want: `1`, form: bundle.Body},
		{name: "directive", code: `"use strict"; try { undeclared = 1 } catch (e) { return e.name }`, want: `"ReferenceError"`, form: bundle.Body},
		{name: "typescript body", path: "t.ts", code: "type T = { a: number }\nconst t: T = input as T\nenum E { One = 1 }\nreturn t.a + E.One", want: `2`, form: bundle.Body},
		{name: "typescript main", path: "t.ts", code: `async function main(input: { a: number }): Promise<{ r: number }> { return { r: input.a! / 1 } }`, want: `{"r":1}`, form: bundle.Main},
		{name: "typescript execute", path: "t.mts", code: `interface I<T> { a: T }
			const execute = async (i: I<number>): Promise<number> => <number>i.a`, want: `1`, form: bundle.Execute},
		{name: "typescript default", path: "t.ts", code: `export type I = { b: number }; export default async function (input: I): Promise<number> { return input.b satisfies number }`, want: `2`, form: bundle.Module},
		{name: "typescript in CommonJS", path: "t.cts", code: `const main = (i: any) => i.a as number; module.exports = { main }`, want: `1`, form: bundle.Module},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.path == "" {
				tt.path = "tool.js"
			}
			b := answers(t, source(tt.path, tt.code, nil, tt.params...), `{"a":1,"b":2}`, tt.want)
			if b.Form != tt.form {
				t.Errorf("Form = %s; want %s", b.Form, tt.form)
			}
		})
	}
}

// TestBodyStaysInside checks that a body cannot close the wrapper function and continue with code
// outside of the function.
func TestBodyStaysInside(t *testing.T) {
	for _, code := range []string{
		`})(); globalThis.out = 1; (async function () {`,
		`}, globalThis.out = 1, async function () {`,
		`}); var __out = 1; (async function () {`,
		`} + function () {`,
		`}`,
		`} {`,
		"`",
		`/*`,
		`}); (async function () {`,
		`}) // `,
		`})({}, async function tool() {`,
	} {
		for _, path := range []string{"tool.js", "tool.ts"} {
			f := refused(t, source(path, code, nil))
			if f.File != path || f.Line != 1 {
				t.Errorf("Build(%q): at %s:%d:%d; want line 1", code, f.File, f.Line, f.Column)
			}
			if strings.HasPrefix(code, "}") && !strings.Contains(f.Message, "has no opening bracket") {
				t.Errorf("Build(%q): %v", code, f)
			}
		}
	}
}

// TestBundlerPanics checks that code that makes esbuild panic is reported without the panic.
func TestBundlerPanics(t *testing.T) {
	const panics = "async function* f(p = eval('var arguments = 1'), arguments) {}\n"
	for _, code := range []string{panics + "return 1", "export default () => 1;\n" + panics} {
		f := refused(t, source("tool.js", code, nil))
		if strings.Contains(f.Error()+f.Hint, "panic") || strings.Contains(f.Error(), "index") || f.File != "tool.js" {
			t.Errorf("Build(%q) = %v (%s) in %q", code, f, f.Hint, f.File)
		}
	}
}

func TestNoEntry(t *testing.T) {
	for _, code := range []string{`export const x = 1`, `export {}`, `export function handle() {}`, `exports.run = async () => 1`,
		"const f = () => 1;\nmodule.exports.run = f; exports.helper = f;"} {
		f := refused(t, source("tool.js", code, nil))
		if !strings.Contains(f.Message, "does not export an entry") || !strings.Contains(f.Hint, "export default") {
			t.Errorf("Build(%q) = %v (%s)", code, f, f.Hint)
		}
	}
	for _, code := range []string{
		`exports.run = exports.main = () => 1`, `exports.run = () => 1; exports["main"] = exports.run`,
		`exports.run = () => 1; for (const name of ["main"]) exports[name] = exports.run`,
		`exports.run = () => 1; Object.assign(module.exports, { main: exports.run })`,
		`exports.run = () => 1; const e = exports; e.handler = e.run`,
	} {
		if out, err := run(build(t, source("tool.js", code, nil)), `{}`, `{}`); err != nil || out != "1" {
			t.Errorf("run of %q = %s, %v; want 1", code, out, err)
		}
	}
	b := build(t, source("tool.js", `module.exports = { x: 1 }`, nil))
	if _, err := run(b, `{}`, `{}`); err == nil || !strings.Contains(err.Error(), "does not export an entry") {
		t.Errorf("run of a module without an entry = %v", err)
	}
}

func TestWarnings(t *testing.T) {
	const defines = "defines functions, but does not call a function"
	for _, tt := range []struct{ name, code, want string }{
		{"functions only", "async function storeCustomerCredentials() {\n  await memory.set_content('x', {})\n}", defines},
		{"arrow only", `const f = () => 1`, defines},
		{"calls main itself", "async function main() {}\nmain()", "return main(...)"},
		{"calls execute itself", "async function execute() {}\nexecute().catch(console.log)", "return execute(...)"},
		{"acts", `function f() {} f()`, ""},
		{"returns", `function f() {} return 1`, ""},
		{"writes", `await memory.set_content("a", {})`, ""},
		{"main", `function main() {}`, ""},
		{"suspicious", "const x = 1\nreturn typeof x === 'nul'", "tool.js:2:"},
	} {
		got := strings.Join(build(t, source("tool.js", tt.code, nil)).Warnings, "\n")
		if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%s: warnings = %q; want %q", tt.name, got, tt.want)
		}
	}
}
