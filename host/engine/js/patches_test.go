package js_test

import (
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/enginetest"
)

func TestUnicodeProperties(t *testing.T) {
	for code, want := range map[string]string{
		`"Ünï 12 Ωж日😀".match(/\p{L}+/gu)`:                                                            `["Ünï","Ωж日"]`,
		`"Ünï 12 Ωж日".match(new RegExp("\\p{L}+", "gu"))`:                                            `["Ünï","Ωж日"]`,
		`"Ünï 12".replace(RegExp("[^\\p{L}\\p{N}]", "gu"), "")`:                                      `"Ünï12"`,
		`[/^\p{Lu}/u.test("É"), /^\P{Lu}$/u.test("É"), /^\P{Lu}$/u.test("é"), /\p{Lu}/iu.test("é")]`: `[true,false,true,true]`,
		`["α", "я", "ツ", "漢"].map((c) => [/\p{Script=Greek}/u, /\p{sc=Cyrl}/u, /\p{scx=Kana}/u, /\p{Script_Extensions=Han}/u].map((r) => +r.test(c)).join(""))`:                              `["1000","0100","0010","0001"]`,
		`["😀", "1", "a", "❤"].map((c) => [/\p{Emoji}/u, /\p{Emoji_Presentation}/u, /\p{Extended_Pictographic}/u].map((r) => +r.test(c)).join(""))`:                                           `["111","100","000","101"]`,
		`[/\p{ASCII}/u.test("é"), /\p{Any}/u.test("é"), /\p{Assigned}/u.test("\u0378"), /[\P{Any}]/u.test("é"), /\p{Cs}/u.test("\ud800"), /\p{General_Category=Decimal_Number}/u.test("٣")]`: `[false,true,false,false,true,true]`,
		`["a-b".replace(/[\p{L}-]/gu, "x"), "a-b".replace(/[-\p{L}]/gu, "x"), "a]b".replace(/[\]\p{L}]/gu, "x")]`:                                                                            `["xxx","xxx","xxx"]`,
		`"naïve-café".match(/(?<=-)\p{L}+/u)[0]`: `"café"`, // selects the engine that supports lookbehinds
		`(() => { const r = /[\p{L}/]+(?<n>\p{N})/u; return [r.source, String(r), r.flags, new RegExp(r, "giu").source, r.exec("é/1").groups.n]; })()`:                                                                                                        `["[\\p{L}/]+(?<n>\\p{N})","/[\\p{L}/]+(?<n>\\p{N})/u","u","[\\p{L}/]+(?<n>\\p{N})","1"]`,
		`(() => { const r = new RegExp("\\p{L}", "u"); return [r.source, String(r), r instanceof RegExp, r.constructor === RegExp, RegExp(r) === r, /x/.constructor === RegExp, /x/.source, new RegExp("\\p{L}/", "u").source, String(new RegExp(""))]; })()`: `["\\p{L}","/\\p{L}/u",true,true,true,true,"x","\\p{L}\\/","/(?:)/"]`,
		`[/(?<word>.)/u.exec("é").groups.word, new RegExp("(?<word>.)", "u").exec("é😀").groups.word, /(?<a>x)/u.source, "é".replace(/(?<a>.)/u, "$<a>$<a>")]`:                                                                                                 `["é","é","(?<a>x)","éé"]`,
		`["(?<a>x)(?<a>y)", "(?<1>x)", "(?<a>x)\\k<b>", "(?<a"].map((p) => { try { return new RegExp(p).source } catch (e) { return e.message.split("/: ")[1] } })`:                                                                                           `["Duplicate capture group name","Invalid capture group name","Invalid named reference","Invalid capture group name"]`,
		`[new RegExp("(?<a>x)\\k<a>").exec("xx").groups.a, /\k<a>/.test("k<a>")]`:                                                                                                                                                                             `["x",true]`,
		`[/\p{L}/.test("p{L}"), new RegExp("\\p{L}").test("p{L}")]`:                                                                                                                                                                                           `[true,true]`, // without the flag u, \p matches the letter p
		`new RegExp(new RegExp("\\p{L}"), "u").test("é")`:                                                                                                                                                                                                     `true`,
		`/x/.constructor("\\p{L}", "u").test("é")`: `true`,
		`(() => { class R extends RegExp { test(s) { return !super.test(s) } } return [new R("\\p{L}", "u").test("é"), new R("a") instanceof RegExp]; })()`:                          `[false,true]`,
		`["é1ü2".split(/\p{N}/u), "é1ü2".split(new RegExp("\\p{N}", "u")), [..."é1ü2".matchAll(new RegExp("\\p{L}", "gu"))].length, "é1".search(/\p{N}/u)]`:                          `[["é","ü",""],["é","ü",""],2,1]`,
		`["\\p{Nope}", "\\p{L", "\\p", "[\\p{L}-z]", "[a-\\p{L}]", "\\p{Script=L}", "\\p{sc}"].map((p) => { try { return new RegExp(p, "u").source } catch (e) { return e.name } })`: `["SyntaxError","SyntaxError","SyntaxError","SyntaxError","SyntaxError","SyntaxError","SyntaxError"]`,
		`(() => { try { new RegExp("\\p{L}".repeat(1000), "u"); } catch (e) { return e.message.slice(-28) } })()`:                                                                    `"Regular expression too large"`,
		`["v", "d"].map((f) => { try { return new RegExp("a", f).flags } catch (e) { return e.name + ": " + e.message } })`:                                                          `["SyntaxError: Invalid flags supplied to RegExp constructor 'v'","SyntaxError: Invalid flags supplied to RegExp constructor 'd'"]`,
		`["\\Z", "[\\Z]", "[\\B]", "(?=a)+", "(?!a){2}", "(?<=a)*", "a\\A"].map((p) => { try { return new RegExp(p, "u").source } catch (e) { return e.message.split("/: ")[1] } })`: `["Invalid escape","Invalid escape","Invalid escape","Nothing to repeat","Nothing to repeat","Nothing to repeat","Invalid escape"]`,
		`["\\d\\B", "[\\b\\-\\]]", "(a)+", "(?:a)+", "(?<n>a)+", "((?=a)b)+", "[(?=]+", "\\(?", "(?=a)b"].map((p) => new RegExp(p, "u").source.length)`:                              `[4,8,4,6,8,9,6,3,6]`,
		`[/\Z/.test("Z"), /(?=a)*b/.test("b")]`:                 `[true,true]`, // without the flag u, \Z matches the letter Z
		`Object.getOwnPropertyNames(new RegExp("\\p{L}", "u"))`: `["lastIndex"]`,
		`[RegExp.name, RegExp.length, typeof RegExp.prototype, Object.getOwnPropertyDescriptor(RegExp.prototype, "source").get.name]`: `["RegExp",2,"object","get source"]`,
	} {
		if got := answer(t, "return ("+code+");"); got != want {
			t.Errorf("%s\n = %s\n want %s", code, got, want)
		}
	}
	_, err := newEngine(t).Load(t.Context(), engine.Source{Path: "tool.js", Code: []byte("\nreturn /\\p{Nope}/u.test('x')")})
	if f, ok := err.(*abi.Fault); !ok || f.Line != 2 || !strings.Contains(f.Message, "Invalid property name") {
		t.Errorf("Load = %v; want the place of the expression", err)
	}
}

// TestProxyTrapArguments checks that traps receive copies of their arguments, because goja passes
// arrays that are views of goja's stack.
func TestProxyTrapArguments(t *testing.T) {
	const look = `let seen; const r = v("A", "B");
		function v(b, c) { let s = "s3cret"; look(); return [b, c, s] }
		function look() { seen = [...a]; a[0] = "H0"; a.length = 9; a.fill("H") }
		return { seen, r };`
	const want = `{"seen":[1,2],"r":["A","B","s3cret"]}`
	for _, code := range []string{
		`let a; const p = new Proxy(function () {}, { apply(t, c, x) { a = x } }); p(1, 2);`,
		`let a; const p = new Proxy(function () {}, { construct(t, x) { a = x; return {} } }); new p(1, 2);`,
		`let a; const { proxy } = Proxy.revocable(function () {}, { apply(t, c, x) { a = x } }); proxy(1, 2);`,
		`let a; const p = new globalThis["Pro" + "xy"](function () {}, { apply(t, c, x) { a = x } }); p(1, 2);`,
		`let a; const p = new Pro\u0078y(function () {}, { apply(t, c, x) { a = x } }); p(1, 2);`,
		`let a; const P = (function () { return this["Pro" + "xy"] })(); const p = new P(function () {}, { apply(t, c, x) { a = x } }); p(1, 2);`,
		`let a; const p = new (new Proxy(Proxy, {}))(function () {}, { apply(t, c, x) { a = x } }); p(1, 2);`,
		`let a; const p = Reflect.construct(Proxy, [function () {}, { apply(t, c, x) { a = x } }]); p(1, 2);`,
		`let a; const p = new Proxy(new Proxy(function () {}, { apply(t, c, x) { a = x } }), {}); p(1, 2);`,
		`let a; const p = new Proxy(function () {}, new Proxy({ apply(t, c, x) { a = x } }, {})); Reflect.apply(p, null, [1, 2]);`,
	} {
		if got := answer(t, code+look); got != want {
			t.Errorf("%s\n = %s\n want %s", code, got, want)
		}
	}
}

func TestProxyOfFunctions(t *testing.T) {
	for code, want := range map[string]string{
		`(() => { const h = { apply(t, self, list) { return [this === h, t === f, self, list] } }; const f = () => {}; return new Proxy(f, h).call("s", 1) })()`:                                                                `[true,true,"s",[1]]`,
		`(() => { const h = { construct(t, list, target) { return { same: target === p, list } } }; const p = new Proxy(class {}, h); return new p(1) })()`:                                                                     `{"same":true,"list":[1]}`,
		`(() => { const h = Object.freeze({ apply: () => "frozen" }); return new Proxy(() => 1, h)() })()`:                                                                                                                      `"frozen"`,
		`(() => { const h = {}; const p = new Proxy(() => "target", h); const before = p(); h.apply = () => "trap"; const with_ = p(); delete h.apply; return [before, with_, p()] })()`:                                        `["target","trap","target"]`,
		`(() => { const p = new Proxy(function named(a, b) {}, { get: (t, k, r) => k === "x" ? r === p : t[k], has: () => true, ownKeys: (t) => Reflect.ownKeys(t) }); return [p.x, p.name, p.length, "y" in p, typeof p] })()`: `[true,"named",2,true,"function"]`,
		`(() => { try { new Proxy(() => 1, { apply: 1 })() } catch (e) { return e.name } })()`:                                                                                                                                  `"TypeError"`,
		`(() => { const { proxy, revoke } = Proxy.revocable(() => 1, {}); const a = proxy(); revoke(); try { proxy() } catch (e) { return [a, e.name] } })()`:                                                                   `[1,"TypeError"]`,
		`(() => { const gone = Proxy.revocable({}, {}); gone.revoke(); const p = new Proxy(() => 1, gone.proxy); try { p() } catch (e) { return e.name } })()`:                                                                  `"TypeError"`,
		`[Proxy.name, Proxy.length, Proxy.hasOwnProperty("prototype"), Proxy.revocable.name, Proxy.revocable.length, Object.keys(Proxy)]`:                                                                                       `["Proxy",2,false,"revocable",2,[]]`,
		`[() => Proxy({}, {}), () => new Proxy(1, {}), () => new Proxy({}, 1), () => new Proxy(() => 1, null), () => Proxy.revocable()].map((f) => { try { f() } catch (e) { return e.name } })`:                                `["TypeError","TypeError","TypeError","TypeError","TypeError"]`,
		`(() => { let calls = []; const p = new Proxy(function () {}, new Proxy({}, { get(t, k, r) { calls.push(k) } })); p(); new p(); p.x; delete p.x; Object.keys(p); return calls.slice(0, 6) })()`:                         `["apply","construct","get","get","deleteProperty","ownKeys"]`,
		`(() => { const loop = new Proxy(() => 1, {}); Object.setPrototypeOf(loop, null); return typeof loop })()`:                                                                                                              `"function"`,
	} {
		if got := answer(t, "return ("+code+");"); got != want {
			t.Errorf("%s\n = %s\n want %s", code, got, want)
		}
	}
	if f := faultOf(t, `const p = new Proxy(() => 1, { get apply() { return p } }); return p()`); f.Code != abi.StackLimit {
		t.Errorf("a trap that is its own proxy: %v; want stack_limit", f)
	}
	if f := faultOf(t, `const p = new Proxy(() => 1, { apply: Reflect.apply }); let q = p; for (let i = 0; i < 1e5; i++) q = new Proxy(q, { apply: Reflect.apply }); return q()`); f.Code != abi.StackLimit {
		t.Errorf("a chain of proxies: %v; want stack_limit", f)
	}
}

func TestTypedArrayFrom(t *testing.T) {
	for code, want := range map[string]string{
		`[...Uint8Array.from("123", Number)]`:                                                                   `[1,2,3]`,
		`[...Uint8Array.from(atob("aGk="), (c) => c.charCodeAt(0))]`:                                            `[104,105]`,
		`[...Float64Array.from(new Set([1.5])), ...Int8Array.from({ length: 1, 0: 7 }), ...Uint8Array.from(5)]`: `[1.5,7]`,
		`[Uint8Array.from.name, Uint8Array.from.length, Uint8Array.from === Int8Array.from]`:                    `["from",1,true]`,
		`(() => { try { Uint8Array.from(null) } catch (e) { return e.name } })()`:                               `"TypeError"`,
	} {
		if got := answer(t, "return ("+code+");"); got != want {
			t.Errorf("%s\n = %s\n want %s", code, got, want)
		}
	}
}

func TestCaptureStackTrace(t *testing.T) {
	got := answer(t, `class E extends Error { constructor(m) { super(m); Error.captureStackTrace(this, E); this.name = "E" } }
		const o = {}; Error.captureStackTrace(o); try { throw new E("x") } catch (e) { return [e.name, e.message, typeof e.stack, typeof o.stack, Object.keys(o)] }`)
	if got != `["E","x","string","string",[]]` {
		t.Errorf("captureStackTrace: %s", got)
	}
}

func sourceOf(code string) engine.Source { return engine.Source{Path: "tool.js", Code: []byte(code)} }

func inputOf() engine.Input { return engine.Input{} }

func hostOf() engine.Host { return enginetest.NewMemory(errHalt).Host() }
