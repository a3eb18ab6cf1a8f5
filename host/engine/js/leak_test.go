package js_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// foreign matches texts that errors must not contain. These texts are heap addresses, and names of
// Go and its libraries.
var foreign = regexp.MustCompile(`0x[0-9a-f]|&\{|&\[|%!|\bGo\b|goja|PANIC|json:|json\.|regexp2?\b|\bre2\b|strconv|runtime error|interface ?\{|\*big|map\[|dynamic object|<nil>|invalid character`)

// oddValues contains unusual operands.
var oddValues = []string{
	"undefined", "null", "1", "-1", "1.5", "NaN", "'text'", "10n", "Symbol('s')", "true", "{}", "[]", "() => 1", "class A {}",
	"Object.create(null)", "{ toString: null, valueOf: null }", "{ toString: () => ({}), valueOf: () => ({}) }",
	"Object.setPrototypeOf([1], null)", "Object.setPrototypeOf(() => 1, null)", "Object.setPrototypeOf(new Date(0), null)", "Object.setPrototypeOf(new Map(), null)",
	"/(?<n>x)/.exec('x').groups", "new Proxy({}, { get: () => undefined })", "new Proxy(Object.create(null), {})", "/x/", "new Error('e')", "new Map()", "new Uint8Array(2)",
	"new ArrayBuffer(2)", "Promise.resolve(1)", "(function* () {})()", "new Date(NaN)", "{ [Symbol.toPrimitive]: () => ({}) }", "{ [Symbol.toPrimitive]: 1 }", "memory", "env", "console", "globalThis", "(function () { return arguments })(Object.create(null))",
}

// oddOperations contains expressions in which x is a variable. The test replaces x by many values.
// The test also calls all global functions.
var oddOperations = []string{
	"'' + x", "`${x}`", "+x", "-x", "x + 1", "x < 1", "x == 1", "x == 'a'", "x ** 2", "1n + x", "x in {}", "'a' in x", "({})[x]", "x.a", "x.a.b", "x[x]", "x()", "x.a()", "new x", "new x.a", "x`t`",
	"[...x]", "Math.max(...x)", "const [a] = x", "const { a: { b } } = x", "x instanceof x", "({}) instanceof x", "class A extends x {}", "for (const a of x) ;", "delete x.a", "x.a = 1", "'use strict'; x.length = -1",
	"String(x)", "Number(x)", "BigInt(x)", "Symbol(x)", "parseInt(x)", "JSON.parse(x)", "JSON.stringify(x)", "JSON.rawJSON(x)", "new Date(x)", "Date.parse(x)", "new RegExp(x)", "new RegExp('a', x)", "'a'.match(x)", "'('.match(x)", "'a'.localeCompare(x)", "'a'.repeat(x)", "'a'.normalize(x)", "'a'.padStart(3, x)",
	"'a'.replace(x, x)", "String.raw(x)", "x.toString()", "x.join()", "[x].join()", "[x].sort()", "[x, x].sort()", "[x].toString()", "[1, x].sort((a, b) => x)", "[].concat(x)", "[1].map(x)", "[1].reduce(x)", "Array.from(x)", "Array(x)", "new Array(x)", "Object.keys(x)", "Object.defineProperty({}, x, x)", "Object.defineProperty({}, 'a', x)", "Object.defineProperties({}, x)",
	"Object.create(x)", "Object.setPrototypeOf({}, x)", "Object.assign(x, { a: 1 })", "Object.freeze(x).a = 1", "'use strict'; Object.freeze(x).a = 1", "Reflect.construct(x, [])", "Reflect.construct(Date, x)", "Reflect.apply(x, 1, [])", "Reflect.ownKeys(x)", "Reflect.set(x, 'a', 1, 1)", "Function.prototype.call.call(x)", "Function.prototype.toString.call(x)",
	"new Map(x)", "new Set(x)", "new WeakMap([[x, 1]])", "new WeakRef(x)", "Map.prototype.get.call(x)", "new Map().forEach(x)", "new Set().forEach(x)", "new Set([1]).union(x)", "new Proxy(x, {})", "new Proxy({}, x).a", "new Promise(x)", "Promise.resolve.call(x)", "Promise.prototype.then.call(x)", "new Uint8Array(x)", "Uint8Array.from(x)", "new Uint8Array(2).set(x)", "Uint8Array.prototype.map.call(x)", "new DataView(x)", "new ArrayBuffer(x)",
	"new DataView(new ArrayBuffer(1)).getInt8(x)", "BigInt.asIntN(x, 1n)", "10n.toString(x)", "(1).toFixed(x)", "(1).toString(x)", "(1).toPrecision(x)", "Number.prototype.valueOf.call(x)", "Symbol.prototype.valueOf.call(x)", "Symbol.keyFor(x)", "String.fromCodePoint(x)", "decodeURIComponent(x)", "encodeURIComponent(x)", "escape(x)", "Date.prototype.getTime.call(x)", "new Date(0)[Symbol.toPrimitive](x)", "RegExp.prototype.exec.call(x)", "RegExp.prototype.test.call(/x/, x)", "Error.prototype.toString.call(x)", "new Error(x)", "new AggregateError(x)", "structuredClone(x)", "atob(x)", "new URL(x)", "new URLSearchParams(x)", "setTimeout(x)", "queueMicrotask(x)", "new TextDecoder(x)", "new TextDecoder().decode(x)", "new TextEncoder().encodeInto('a', x)", "Buffer.from(x)", "Buffer.alloc(x)", "Buffer.concat(x)", "Buffer.from('a', x)", "require('crypto').createHash(x)", "require('crypto').createHmac('md5', x)", "crypto.getRandomValues(x)", "console.log(x)", "throw x", "with (x) { a.b }", "function* g() { yield* x } [...g()]", "(function () { 'use strict'; return x.caller })()", "Array.prototype.toLocaleString.call([x])", "x.toLocaleString()",
	"Object.freeze(new Intl.NumberFormat('en'))", "Object.freeze(Object.create(Intl).NumberFormat('en'))",
	"await memory.get_content(x)", "await memory.set_content('prefs', x)", "await memory.get_content('prefs', x)", "await crypto.subtle.digest(x, x)",
}

func TestErrorsHoldNothingOfGo(t *testing.T) {
	const show = `const show = (e) => { try { return [String(e), e?.message, e?.stack, e?.name, require("util").inspect(e)].map((s) => { try { return String(s) } catch (e2) { return String(e2.message) } }).join(" | ") } catch (e3) { return String(e3.message) } };`
	for _, operation := range oddOperations {
		var code strings.Builder
		code.WriteString(show + "const seen = [];\n")
		for _, value := range oddValues {
			fmt.Fprintf(&code, "{ const x = (%s); try { await (async () => { %s })(); } catch (e) { seen.push(show(e)); } }\n", value, operation)
			fmt.Fprintf(&code, "{ const x = (%s); await (async () => { %s })().catch((e) => seen.push(show(e))); }\n", value, operation)
			fmt.Fprintf(&code, "{ const x = (%s); await Promise.allSettled([0].map(async () => { %s })).then(([p]) => p.reason && seen.push(show(p.reason))); }\n", value, operation)
		}
		code.WriteString("return seen;")
		var panicked any // the tool catches panics of goja in the form of errors
		program, err := newEngineWithPanics(&panicked).Load(t.Context(), sourceOf(code.String()))
		if err != nil {
			t.Errorf("%s: %v", operation, err)
			continue
		}
		out, err := program.Run(t.Context(), inputOf(), hostOf())
		if panicked != nil {
			t.Logf("%s: %v", operation, panicked)
		}
		text := string(out.Output)
		if err != nil {
			text = err.Error()
		}
		if found := foreign.FindStringIndex(text); found != nil {
			t.Errorf("%s shows %q", operation, text[max(0, found[0]-150):min(len(text), found[1]+150)])
		}
		program.Close()
	}
}

// TestFaultsHoldNothingOfGo checks the faults of runs. They must contain no heap addresses, and no
// names of Go or its libraries.
func TestFaultsHoldNothingOfGo(t *testing.T) {
	for _, code := range []string{
		`return "" + Object.create(null)`,
		"return `${/(?<n>x)/.exec('x').groups}`",
		`throw Object.create(null)`,
		`const e = new Error("x"); e.message = Object.create(null); throw e`,
		`Promise.reject(Object.create(null)); await 1`,
		`(async () => "" + Object.create(null))(); await 1`,
		`return JSON.parse("1e")`,
		`return "a".match("(")`,
		`return new RegExp("[", "i")`,
		`new Map().forEach(1)`,
		`setTimeout(() => "" + Object.create(null)); await new Promise((r) => setTimeout(r, 5))`,
		`return { get a() { return "" + Object.create(null) } }`,
		`return { toJSON() { return +{ valueOf: null, toString: null } } }`,
	} {
		f := faultOf(t, code)
		if text := f.Message + f.Hint + f.Stack; foreign.MatchString(text) {
			t.Errorf("%s: %q", code, text)
		}
	}
	_, err := newEngine(t).Load(t.Context(), sourceOf(`return /(?<a>x)(?<a>y)\k<b>/u`))
	if err == nil || foreign.MatchString(err.Error()) {
		t.Errorf("Load = %v", err)
	}
}
