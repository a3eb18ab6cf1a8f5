package js_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/js"
)

// reviewed returns the review of a source as text. The text contains one line for each call and one
// line for each finding.
func reviewed(t *testing.T, src engine.Source) []string {
	t.Helper()
	src.Review = true
	program, err := js.New().Load(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	review := engine.ReviewOf(program)
	lines := []string{}
	for _, c := range review.Calls {
		lines = append(lines, fmt.Sprintf("%s:%d:%d: %s %s", c.File, c.Line, c.Column, c.Op, c.Store+c.Item))
	}
	for _, f := range review.Findings {
		line := fmt.Sprintf("%s:%d:%d: %s", f.File, f.Line, f.Column, f.Message)
		if f.Hint != "" {
			line += " (" + f.Hint + ")"
		}
		lines = append(lines, line)
	}
	return lines
}

func TestReview(t *testing.T) {
	tests := []struct {
		name, code string
		want       []string // prefixes
	}{
		{"calls", "const c = await memory.get_content('prefs');\nawait memory.set_content(`prefs`, c); await memory.delete_content(\"conv\");",
			[]string{"tool.js:1:17: get_content prefs", "tool.js:2:7: set_content prefs", "tool.js:2:45: delete_content conv"}},
		{"calls of facts", "await memory.get_fact('user.a'); await memory.set_fact({ path: 'user.b', value: 1 }); await memory.list_facts('user'); memory.get_fact(input.x)",
			[]string{"tool.js:1:7: get_fact user.a", "tool.js:1:40: set_fact user.b"}},
		{"calls by name", "await memory.set_content({ memory_store_name: 'prefs', value: {} });", []string{"tool.js:1:7: set_content prefs"}},
		{"calls of a constant", "const STORE = 'prefs';\nreturn await memory.get_content(STORE);", []string{"tool.js:2:14: get_content prefs"}},
		{"calls of what changes", "let store = 'prefs';\nif (input.x) store = 'conv';\nreturn await memory.get_content(store);", nil},
		{"calls in a function", "async function main(input) {\n  return await memory.get_content('prefs');\n}", []string{"tool.js:2:16: get_content prefs"}},
		{"calls in a module", "export default async (input) => memory.get_content('prefs');", []string{"tool.js:1:33: get_content prefs"}},
		{"memory of its own", "const memory = { get_content: (x) => x, getContent: (x) => x };\nreturn memory.get_content('prefs') + memory.getContent('x');", nil},

		{"a function that memory lacks", "return await memory.getContent('prefs');", []string{"tool.js:1:21: memory has no operation getContent (did you mean get_content?)"}},
		{"one like no other", "return await memory.frobnicate();", []string{"tool.js:1:21: memory has no operation frobnicate (use one of: get_content, set_content, delete_content, get_fact"}},
		{"one that every object has", "return memory.toString();", nil},
		{"one that may be missing", "return memory.getContent?.('prefs') ?? null;", nil},

		{"no value", "await memory.set_content('prefs');", []string{"tool.js:1:7: set_content prefs", "tool.js:1:7: set_content lacks the argument value"}},
		{"no value by name", "await memory.set_content({ memory_store_name: 'prefs' });", []string{"tool.js:1:7: set_content prefs", "tool.js:1:7: set_content lacks the argument value"}},
		{"a value by another name", "await memory.set_content({ memory_store_name: 'prefs', ['value']: 1 });", []string{"tool.js:1:7: set_content prefs"}},
		{"arguments that are spread", "await memory.set_content(...['prefs', 1]); await memory.set_content('prefs', ...[1]); await memory.set_content({ memory_store_name: 'prefs', ...{ value: 1 } });",
			[]string{"tool.js:1:50: set_content prefs", "tool.js:1:93: set_content prefs"}},
		{"no value that is caught", "try { await memory.set_content('prefs'); } catch { return 1; }", []string{"tool.js:1:13: set_content prefs"}},

		{"properties of Unicode without the flag", "return input.a.match(/\\p{L}+/g) ?? /[\\P{Lu}]/.test(input.a);",
			[]string{"tool.js:1:22: without the flag u, \\p{L} in a regular expression matches the letters p{L} (write /\\p{L}+/gu)", "tool.js:1:36: without the flag u, \\P{Lu}"}},
		{"properties of Unicode", "return /\\p{L}/u.test(input.a) || /\\\\p{L}/.test(input.a) || /\\p{1}/.test(input.a);", nil},

		{"eval", "return eval('1 + 1');", []string{"tool.js:1:8: `eval` and `new Function` are disabled"}},
		{"new Function", "return new Function('return 1')();", []string{"tool.js:1:12: `eval` and `new Function` are disabled"}},
		{"the global object", "return typeof (globalThis || Function('return this')());", nil},
		{"instanceof Function", "return main instanceof Function;\nfunction main() {}", nil},

		{"fetch", "const r = await fetch('https://example.com');\nreturn r.status;", []string{"tool.js:1:17: fetch is not defined (tools have no network"}},
		{"once", "fetch('a'); fetch('b');", []string{"tool.js:1:1: fetch is not defined"}},
		{"asked for", "if (typeof fetch === 'function') return fetch('x');\nreturn 1;", nil},
		{"asked for as a member", "if (globalThis.fetch) return fetch('x');\nreturn 1;", nil},
		{"asked for by its name", "if ('fetch' in globalThis) return fetch('x');\nreturn 1;", nil},
		{"caught", "try { return fetch('x'); } catch { return 1; }", nil},
		{"not caught", "try { return fetch('x'); } finally { console.log(1); }", []string{"tool.js:1:14: fetch is not defined"}},
		{"declared", "const fetch = async () => 1;\nreturn await fetch();", nil},
		{"a parameter", "return ((document) => document.title)({ title: 1 });", nil},
		{"in an object", "return { localStorage };", []string{"tool.js:1:10: localStorage is not defined (keep data in a store"}},
		{"a key", "return { fetch: 1, window: { document: 2 } }.window.document;", nil},
		{"a label", "window: for (const x of [1]) { for (;;) break window; }\nreturn 1;", nil},
		{"assigned", "total = 1;\nreturn total;", nil},
		{"a mistyped variable", "const userName = input.name;\nreturn usrName;", []string{"tool.js:2:8: usrName is not defined (did you mean userName?)"}},
		{"the globals of tools", "return [console, setTimeout, structuredClone, URL, atob, env, input, context, globalThis, MemoryAccessError, Symbol, undefined, NaN, arguments.length, crypto, performance];", nil},
		{"inputs", "return $name + $other;", nil},
		{"declared inputs", "return $page + $count + page + $other;", nil},
		{"a misspelt input", "return $pgae + 1;", []string{"tool.js:1:8: the tool declares no input pgae (did you mean $page?)"}},
		{"a variable like an input", "const $pgae = 1;\nreturn $pgae;", nil},
		{"new.target", "function F() { return new.target; }\nreturn new F();", nil},
		{"a class", "class A { #x = 1; get window() { return this.#x; } static document() {} }\nreturn new A().window;", nil},
		{"taken apart", "const { window, ...document } = input;\nfor (const [location] of []) console.log(location);\nreturn [window, document];", nil},
		{"in a with", "with (input) { return fetch; }", nil},

		{"nothing", " \n// only this\n/* and\nthat */", []string{"tool.js:1:1: the source is empty"}},
		{"a missing await", "const x = memory.get_content('prefs');\nreturn x.n;", []string{"tool.js:1:11: get_content prefs", "tool.js:1:11: an await is missing"}},
		{"a function that nothing calls", "async function mian() { return 1; }", []string{"tool.js:1:1: the script defines functions, but does not call a function"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := reviewed(t, engine.Source{Path: "tool.js", Code: []byte(tt.code), Params: []string{"page", "count"}})
			if !slices.EqualFunc(got, tt.want, strings.HasPrefix) {
				t.Errorf("review of\n%s\n is %q; want %q", tt.code, got, tt.want)
			}
		})
	}
}

// TestReviewOfFiles checks that a review reports the positions of findings in the tool's modules.
// The review must ignore packages.
func TestReviewOfFiles(t *testing.T) {
	files := fstest.MapFS{
		"lib/store.ts":               {Data: []byte("type Window = string;\nexport const read = (w: Window): unknown =>\n  memory.get_content('cart');\nexport const bad = () => document.title;\n")},
		"node_modules/pack/index.js": {Data: []byte("exports.go = () => fetch(process.env.URL).then(() => memory.getContent('x'));")},
	}
	got := reviewed(t, engine.Source{Path: "main.ts", Files: files, Code: []byte("import { read, bad } from './lib/store';\nimport { go } from 'pack';\nexport default async (input: { a: number }) => [await read('x'), bad(), go()];\n")})
	want := []string{"lib/store.ts:3:3: get_content cart", "lib/store.ts:4:26: document is not defined (tools do not run in a browser"}
	if !slices.EqualFunc(got, want, strings.HasPrefix) {
		t.Errorf("review = %q; want %q", got, want)
	}
}

// TestNoReview checks that a load returns no review if the source does not request a review.
func TestNoReview(t *testing.T) {
	program, err := js.New().Load(t.Context(), engine.Source{Path: "tool.js", Code: []byte("fetch('x')")})
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	if got := engine.ReviewOf(program); len(got.Findings) > 0 {
		t.Errorf("review = %+v; want none", got)
	}
}
