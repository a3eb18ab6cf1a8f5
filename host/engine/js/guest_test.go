package js_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/enginetest"
)

func TestConsole(t *testing.T) {
	tests := []struct{ code, want string }{
		{`console.log('a', 1, true)`, "a 1 true"},
		{`console.log('')`, ""},
		{`console.log(null, undefined, -0, 10n, Symbol('s'))`, "null undefined -0 10n Symbol(s)"},
		{`console.log('%s is %d%%, %i %f %j %o %c!', 'x', '5', 7.9, '1.5', {a: 1}, ['b'], 'css', 'more')`, `x is 5%, 7 1.5 {"a":1} [ 'b' ] ! more`},
		{`console.log('100%', 1)`, "100% 1"},
		{`console.log({ a: 'it\'s', 'b c': [1, [2, [3, [4]]]], f() {}, g: class A {} })`, `{ a: "it's", 'b c': [ 1, [ 2, [Array] ] ], f: [Function: f], g: [class A] }`},
		{`console.log([], {}, [ , 1], Object.create(null))`, `[] {} [ <empty>, 1 ] [Object: null prototype] {}`},
		{`console.log(new Map([['k', { a: 1 }]]), new Set([1]))`, `Map(1) { 'k' => { a: 1 } } Set(1) { 1 }`},
		{`console.log(new Date(0), /x/g, new Uint8Array(2), new String('s'))`, `1970-01-01T00:00:00.000Z /x/g Uint8Array(2) [ 0, 0 ] [String: 's']`},
		{`class P { x = 1 } console.log(new P())`, `P { x: 1 }`},
		{`const a = { b: [] }; a.b.push(a); console.log(a)`, `{ b: [ [Circular] ] }`},
		{`console.log({ get a() { throw 1; } }, new Proxy({}, { ownKeys() { throw 1; } }))`, `{ a: [Getter] } [unprintable]`},
		{`console.log(Array.from({ length: 103 }, () => 0).length, [...Array(102).keys()].slice(0, 1))`, `103 [ 0 ]`},
		{`console.group('g'); console.log('in'); console.groupEnd(); console.log('out')`, "g|  in|out"},
		{`console.assert(true, 'no'); console.assert(false, 'yes', 1)`, "Assertion failed: yes 1"},
		{`console.count(); console.count(); console.countReset(); console.count('x')`, "default: 1|default: 2|x: 1"},
		{`console.dir({ a: 1 }); console.table([1])`, "{ a: 1 }|[ 1 ]"},
		{`const { log } = console; log('bare')`, "bare"},
	}
	for _, tt := range tests {
		if got := strings.Join(logged(t, tt.code), "|"); got != tt.want {
			t.Errorf("%s\n logs %s\n want %s", tt.code, got, tt.want)
		}
	}
}

func TestConsoleLevels(t *testing.T) {
	m := enginetest.NewMemory(errHalt)
	_, err := runWith(t, `for (const k of ['log', 'info', 'warn', 'error', 'debug']) console[k](k);`, engine.Input{}, m)
	if err != nil {
		t.Fatal(err)
	}
	want := []abi.Level{abi.LevelInfo, abi.LevelInfo, abi.LevelWarn, abi.LevelError, abi.LevelDebug}
	for i, line := range m.Logs() {
		if line.Level != want[i] {
			t.Errorf("console.%s has level %s; want %s", line.Text, line.Level, want[i])
		}
	}
}

// TestConsoleBounds checks the limits on log lines. If a log line contains an error, the error must
// contain positions in the author's files.
func TestConsoleBounds(t *testing.T) {
	lines := logged(t, `
		console.log('ü'.repeat(1e5));
		console.log(Array.from({ length: 1e4 }, (_, i) => ({ i, text: 'x'.repeat(1000) })));
		const dag = [0]; for (let a = dag, i = 0; i < 3; i++) { for (let j = 0; j < 99; j++) a.push(a[0]); }
		let wide = 'x'; for (let i = 0; i < 40; i++) wide = { a: wide, b: wide };
		console.log(wide, dag);
		console.log('\ud800');`)
	for i, line := range lines[:3] {
		if len(line) > 8<<10+3 {
			t.Errorf("line %d has %d bytes", i, len(line))
		}
	}
	if !strings.HasSuffix(lines[0], "ü…") || lines[3] != "\ufffd" {
		t.Errorf("lines end in %q and %q; want ü… and U+FFFD", lines[0][len(lines[0])-5:], lines[3])
	}
	stack := logged(t, "\nfunction fail() {\n  return new RangeError('far');\n}\nconsole.error('it:', fail());")[0]
	if !strings.HasPrefix(stack, "it: RangeError: far\n    at fail (tool.js:3:") || strings.Contains(stack, "native") {
		t.Errorf("logged %q; want the author's stack", stack)
	}
	trace := logged(t, "\n\nconsole.trace('here', 1);")[0]
	if !strings.HasPrefix(trace, "Trace: here 1\n    at ") || !strings.Contains(trace, "tool.js:3:") {
		t.Errorf("logged %q; want a trace", trace)
	}
}

func TestWebAPIs(t *testing.T) {
	for code, want := range map[string]string{
		`[typeof fetch, typeof XMLHttpRequest]`: `["undefined","undefined"]`,
		`Object.keys(globalThis)`:               `[]`,
		`[URL === URL, globalThis.URL === URL, global === globalThis, new URL('a:b') instanceof URL]`: `[true,true,true,true]`,
		`(() => { URL = 1; return [URL, delete globalThis.URL, typeof URL]; })()`:                     `[1,true,"function"]`,
		`[...new TextEncoder().encode('é€😀')]`:                                                        `[195,169,226,130,172,240,159,152,128]`,
		`[new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 0xc3, 0xa9])), new TextDecoder().decode(new Uint8Array([0xff, 65]).subarray(1)), new TextDecoder().decode()]`: `["é","A",""]`,
		`new TextDecoder().decode(new Uint8Array([0xff]))`: "\"\ufffd\"",
		`(() => { try { new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([0xff])); } catch (e) { return e.name; } })()`: `"TypeError"`,
		`new TextEncoder().encodeInto('a€b', new Uint8Array(3))`:                                                                       `{"read":1,"written":1}`,
		`[btoa('hé'), atob('aOk='), atob(' aO k '), atob('')]`:                                                                         `["aOk=","hé","hé",""]`,
		`['€', 'a'].map((x, i) => { try { return [btoa, atob][i](x); } catch (e) { return e.name; } })`:                                `["InvalidCharacterError","InvalidCharacterError"]`,
		`/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID())`:                            `true`,
		`crypto.getRandomValues(new Uint32Array(8)).filter((n) => n > 0).length > 0`:                                                   `true`,
		`typeof performance.now() + (performance.now() <= performance.now())`:                                                          `"numbertrue"`,
		`(() => { const a = { d: new Date(0), m: new Map([[1, new Set([2])]]), r: /x/g, b: new Uint8Array([1, 2]) }; a.self = a;
			const c = structuredClone(a);
			return [c !== a, c.self === c, c.d, [...c.m.get(1)], String(c.r), [...c.b], c.m !== a.m]; })()`: `[true,true,"1970-01-01T00:00:00.000Z",[2],"/x/g",[1,2],true]`,
		`(() => { try { structuredClone({ f() {} }); } catch (e) { return e.name; } })()`:                          `"DataCloneError"`,
		`(() => { const e = structuredClone(new TypeError('t')); return [e instanceof TypeError, e.message]; })()`: `[true,"t"]`,
	} {
		if got := answer(t, "return ("+code+");"); got != want {
			t.Errorf("%s\n = %s\n want %s", code, got, want)
		}
	}
}

func TestURL(t *testing.T) {
	for code, want := range map[string]string{
		`new URL('../x?a=1 2#h', 'HTTP://u:p@Example.com:80/a/b/c').href`: `"http://u:p@example.com/a/x?a=1%202#h"`,
		`['http://exämple.com/ü', 'http://日本語.jp', 'http://127.1/', 'http://0x7f.1', 'http://h/%zz', 'http:\\\\a\\b', 'http://h/?', 'http://a/#', 'https://h:443/', 'file:///C|/x'].map((u) => new URL(u).href)`:             `["http://xn--exmple-cua.com/%C3%BC","http://xn--wgv71a119e.jp/","http://127.0.0.1/","http://127.0.0.1/","http://h/%zz","http://a/b","http://h/?","http://a/#","https://h/","file:///C:/x"]`,
		`['http://a:99999/', 'http://256.256.256.256/', 'http://h:a', 'http://a<b/', 'http://[::1', 'http://h:/'].map((u) => URL.canParse(u))`:                                                                               `[false,false,false,false,false,true]`,
		`[new URL('', 'http://h/p?q#f').href, new URL('http://h/\ud800').href, new URL('blob:https://h/x').origin, new URL('http://h/?a=%E9&b=%zz').searchParams.get('b'), String(new URLSearchParams({ a: 'é\ud800*~' }))]`: `["http://h/p?q","http://h/%EF%BF%BD","https://h","%zz","a=%C3%A9%EF%BF%BD*%7E"]`,
		`(() => { try { new URL('/x', 'y'); } catch (e) { return [e.code, e.input, e.base]; } })()`:                                                                                                                          `["ERR_INVALID_URL","/x","y"]`,
		`new URL('https://e.com').href`:           `"https://e.com/"`,
		`new URL('//h/p', 'https://e.com').href`:  `"https://h/p"`,
		`new URL('?q', 'https://e.com/a/b').href`: `"https://e.com/a/b?q"`,
		`new URL('https://[::1]:8080/').host`:     `"[::1]:8080"`,
		`[new URL('mailto:a@b.c').pathname, new URL('mailto:a@b.c').origin, new URL('mailto:a@b.c').href]`: `["a@b.c","null","mailto:a@b.c"]`,
		`Object.values((({ protocol, username, password, host, hostname, port, pathname, search, hash, origin }) =>
			({ protocol, username, password, host, hostname, port, pathname, search, hash, origin }))(new URL('https://u:p@h:81/p/q?r=s#t')))`: `["https:","u","p","h:81","h","81","/p/q","?r=s","#t","https://h:81"]`,
		`(() => { const u = new URL('https://e.com/'); u.protocol = 'http'; u.host = 'f.org:90'; u.pathname = 'a b?'; u.search = 'x=1'; u.hash = 'z'; u.username = 'me';
			return u.href; })()`: `"http://me@f.org:90/a%20b%3F?x=1#z"`,
		`(() => { const u = new URL('https://e.com/?a=1'); u.searchParams.append('b', 'x y&z'); const p = u.searchParams; u.search = '?c=3';
			return [u.searchParams === p, p.get('c'), p.get('a'), JSON.stringify(u)]; })()`: `[true,"3",null,"\"https://e.com/?c=3\""]`,
		`['', 'x', 'http://', 'http://a b/', '/p'].map((u) => URL.canParse(u))`:                                                                                        `[false,false,false,false,false]`,
		`(() => { try { new URL('nope'); } catch (e) { return [e.name, e.code]; } })()`:                                                                                `["TypeError","ERR_INVALID_URL"]`,
		`(() => { const p = new URLSearchParams('?a=1&b=2&a=%C3%A9+x&c&%'); return [[...p], p.getAll('a'), p.has('b', '3'), p.size, String(p)]; })()`:                  `[[["a","1"],["b","2"],["a","é x"],["c",""],["%",""]],["1","é x"],false,5,"a=1&b=2&a=%C3%A9+x&c=&%25="]`,
		`(() => { const p = new URLSearchParams({ z: 1, a: "it's" }); p.set('z', 2); p.append('z', 3); p.set('z', 4); p.delete('q'); p.sort(); return String(p); })()`: `"a=it%27s&z=4"`,
	} {
		if got := answer(t, "return ("+code+");"); got != want {
			t.Errorf("%s\n = %s\n want %s", code, got, want)
		}
	}
}

func TestMemoryArguments(t *testing.T) {
	const names = "the names of the arguments are store, projection, options"
	for code, want := range map[string]string{
		`get_content({ store: 'a', store_name: 'b' })`:  "get_content received the argument store under two names",
		`get_content({ store: 'a', nope: 1 })`:          `get_content has no argument named "nope"; ` + names,
		`get_content({ store: 'a' }, {})`:               "get_content takes either positional arguments or one object of named arguments, not both",
		`get_content('a', {}, {}, 1)`:                   "get_content takes at most 3 arguments, not 4",
		`set_content('a', { f() {} })`:                  "set_content: value.f is a function",
		`set_content({ store: 'a', data_object: NaN })`: "set_content: value is NaN; use null",
		`get_content(['a'])`:                            "get_content: the store is not a string",
	} {
		got := answer(t, `return await memory.`+code+`.catch((e) => [e.code, e.op ?? null, e.message]);`)
		op, _, _ := strings.Cut(code, "(")
		if got != fmt.Sprintf(`["invalid_argument",%q,%q]`, op, want) && !strings.Contains(got, "is not a string") {
			t.Errorf("%s = %s; want %s", code, got, want)
		}
	}
}

// TestCallActsAtOnce checks when a memory call takes effect. This must be the time of the call, not
// the time of a later await.
func TestCallActsAtOnce(t *testing.T) {
	m := enginetest.NewMemory(errHalt)
	out, err := runWith(t, `
		const value = { n: 1 };
		const set = memory.set_content('prefs', value);
		value.n = 2;
		const get = memory.get_content('prefs');
		await set;
		return await get;`, engine.Input{}, m)
	if err != nil || string(out.Output) != `{"n":1}` {
		t.Errorf("Run = %s, %v; want what was set when the call was made", out.Output, err)
	}
}

func TestNoCodeFromText(t *testing.T) {
	got := answer(t, `
		const ways = [
			() => eval('1'), () => (0, eval)('1'), () => Function('return 1')(), () => new Function('return 1'),
			() => (async () => {}).constructor('return 1'), () => (function* () {}).constructor('yield 1'),
			() => Reflect.construct(Function, ['return 1']), () => [].map.constructor('return 1'),
			() => eval('1\n//# sourceMappingURL=file:///dev/zero'), () => { switch (1) { case 1: let a = ev\u0061l('1'); } },
			() => { switch (1) { case 1: return (() => eval('1'))(); case 2: function f() {} } }, () => setTimeout('1'),
		];
		return ways.map((way) => { try { return way(); } catch (e) { return e.name; } });`)
	want := `["` + strings.Join(slices.Concat(slices.Repeat([]string{"EvalError"}, 11), []string{"TypeError"}), `","`) + `"]`
	if got != want {
		t.Errorf("Run = %s; want %s", got, want)
	}
}

func TestJSONParseIsBounded(t *testing.T) {
	got := answer(t, `
		const parse = (text) => { try { return JSON.parse(text); } catch (e) { return e.name; } };
		return [
			parse('['.repeat(1e7)), parse('{"a":'.repeat(1e6)), parse('"[[[\\"[["'), parse('[1,{"a":[2]}]'), parse({ toString: () => '1' }),
			JSON.parse('[1,2]', (k, v) => Array.isArray(v) ? v : v + 1), parse('{'), JSON.parse.name,
		];`)
	want := `["SyntaxError","SyntaxError","[[[\"[[",[1,{"a":[2]}],1,[2,3],"SyntaxError","parse"]`
	if got != want {
		t.Errorf("Run = %s; want %s", got, want)
	}
}

// TestStopsEverywhere ends a run while guest code is executed in different contexts. The guest code
// must stop.
func TestStopsEverywhere(t *testing.T) {
	for _, code := range []string{
		`for (;;);`,
		`const f = () => Promise.resolve().then(f); await f();`,
		`setInterval(() => {}, 0); await new Promise(() => {});`,
		`await new Promise((done) => setTimeout(done, 1e8));`,
		`return { get a() { for (;;); } };`,
		`return { toJSON() { for (;;); } };`,
		`throw { get message() { for (;;); } };`,
		`return { then() { for (;;); } };`,
		`context.x = { toJSON() { for (;;); } };`,
		`console.log({ [Symbol.iterator]: 1 }, new Proxy({}, { getOwnPropertyDescriptor() { for (;;); }, ownKeys: () => ['a'] }));`,
		`await memory.set_content('prefs', { get a() { for (;;); } });`,
		`try { for (;;); } finally { for (;;); }`,
		`queueMicrotask(() => { for (;;); }); await new Promise(() => {});`,
		`const e = new Error(); Object.defineProperty(e, 'stack', { get() { for (;;); } }); throw e;`,
	} {
		program, err := newEngine(t).Load(t.Context(), engine.Source{Path: "tool.js", Code: []byte(code)})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := contextWithTimeout(t, 60*time.Millisecond)
		out, err := program.Run(ctx, engine.Input{}, enginetest.NewMemory(errHalt).Host())
		cancel()
		if f, ok := err.(*abi.Fault); !ok || f.Code != abi.Timeout {
			t.Errorf("Run(%s) = %s, %v; want timeout", code, out.Output, err)
		}
	}
}

// TestBrokenLanguage runs guests that break built-in objects. Such a guest must get its own errors,
// and never an internal fault.
func TestBrokenLanguage(t *testing.T) {
	for code, want := range map[string]abi.Code{
		`globalThis.EvalError = undefined; eval('1');`:                                                      abi.ToolError,
		`globalThis.SyntaxError = null; JSON.parse('['.repeat(2000));`:                                      abi.ToolError,
		`Object.setPrototypeOf(globalThis, null); memory;`:                                                  abi.ToolError,
		`Object.freeze(Object.prototype); Object.freeze(globalThis); await memory.get_content('forbidden')`: abi.AccessDenied,
		`delete Object.prototype.toString; delete Array.prototype.join; console.log({}); throw {}`:          abi.ToolError,
		`Object.getPrototypeOf(globalThis).memory = 1; throw memory`:                                        abi.ToolError,
		`Error.prototype.name = { toString() { throw 1; } }; throw new Error('named')`:                      abi.ToolError,
		`const f = (n) => n ? f(n - 1) : memory.get_content('prefs'); for (let i = 400; ; i++) f(i);`:       abi.StackLimit,
		`const f = (n) => n ? f(n - 1) : console.log({}, new Error()); for (let i = 400; ; i++) f(i);`:      abi.StackLimit,
	} {
		if f := faultOf(t, code); f.Code != want {
			t.Errorf("Run(%s) = %v; want %s", code, f, want)
		}
	}
}

// FuzzStack tests errors. The guest has changed the text of their stacks.
func FuzzStack(f *testing.F) {
	for _, seed := range []string{
		"", "Error: x\n\tat f (tool.js:1:2(3))\n", "\tat tool.js:99999999999999999999:1(1)", "at tool.js:0:0(0)",
		"at a (b (tool.js:5:5(5))))", "\tat tool.js:2147483647:2147483647(1)", strings.Repeat("\tat tool.js:1:1(1)\n", 50),
	} {
		f.Add(seed)
	}
	program, err := newEngine(f).Load(f.Context(), engine.Source{Path: "tool.js", Code: []byte(
		"const error = new Error('made');\nerror.stack = input.stack;\nconsole.log(error);\nthrow error;")})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, stack string) {
		text, err := json.Marshal(map[string]string{"stack": stack})
		if err != nil {
			return
		}
		_, err = program.Run(t.Context(), engine.Input{Input: text}, enginetest.NewMemory(errHalt).Host())
		fault, ok := err.(*abi.Fault)
		if !ok || fault.Code != abi.ToolError || fault.Message != "made" {
			t.Fatalf("Run = %v; want tool_error: made", err)
		}
		if fault.File != "" && fault.File != "tool.js" || strings.Count(fault.Stack, "\n") > 20 {
			t.Errorf("fault in %q, stack %q; want the author's file, and 20 frames at most", fault.File, fault.Stack)
		}
	})
}
