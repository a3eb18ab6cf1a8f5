package js_test

import (
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
)

// TestStackLimitOfNatives tests native functions that call each other through getters or bound
// functions. If a native function calls another native function, no JavaScript frame is created.
// Without a separate limit on native calls, each of these cases would end the process.
func TestStackLimitOfNatives(t *testing.T) {
	for _, code := range []string{
		`const o = {}, f = memory.set_content.bind(null, "prefs", o);
			Object.defineProperty(o, "x", { get: f, enumerable: true }); f();`,
		`const o = {}; o.toJSON = memory.set_content.bind(null, "prefs", o); return o;`,
		`const o = {}, f = memory.get_content.bind(null, o);
			Object.defineProperty(o, "store", { get: f, enumerable: true }); try { await f(); } finally { return 1; }`,
		`const o = {}; o.toString = JSON.parse.bind(null, o); JSON.parse(o);`,
		`const o = {}; o.toString = btoa.bind(null, o); btoa(o);`,
		`const o = { valueOf: null }; o.valueOf = setTimeout.bind(null, () => 1, o); setTimeout(() => 1, o);`,
		`const h = {}, p = new Proxy(() => 1, h), f = JSON.parse.bind(null, "[".repeat(999) + "]".repeat(999), p);
			h.apply = f; f();`,
		`Object.defineProperty(globalThis, "EvalError", { get: eval.bind(null, "1") }); eval("1");`,
		`const B = Object.getPrototypeOf(MemoryAccessError), o = {}; o.toString = B.bind(null, o); B(o);`,
		`Object.defineProperty(context, "env", { get: Reflect.get.bind(null, globalThis, "env") }); globalThis.env;`,
	} {
		if f := faultOf(t, code); f.Code != abi.StackLimit {
			t.Errorf("Run(%s) = %v; want stack_limit", code, f)
		}
	}
}

// TestCallsThatEndedAreNotCounted checks that the limit counts only active native calls. A call
// that has ended, even with an error, must not count.
func TestCallsThatEndedAreNotCounted(t *testing.T) {
	const code = `for (let i = 0; i < 2000; i++) {
		memory.get_content("forbidden").catch(() => 0);
		try { JSON.parse("{"); } catch {}
		try { eval("1"); } catch {}
	}
	return "done";`
	if got := answer(t, code); got != `"done"` {
		t.Errorf("Run = %s; want done", got)
	}
}

// TestNamedArgumentsTrustNoPrototype checks that a guest cannot change the order in which named
// arguments are passed.
func TestNamedArgumentsTrustNoPrototype(t *testing.T) {
	for _, broken := range []string{
		`Array.prototype.fill = () => 5`,
		`Array.prototype.findIndex = () => 77`,
		`Object.keys = () => 5`,
		`Array.isArray = () => true`,
		`JSON.stringify = () => "x".repeat(3000000)`,
		`String.prototype.slice = () => "x".repeat(3000000)`,
		`Object.defineProperty(Array.prototype, "0", { get() { return 5; }, set() {} })`,
	} {
		if got := answer(t, broken+`; await memory.set_content({ value: { a: 1 }, store: "prefs" }); return 1;`); got != "1" {
			t.Errorf("Run after %s = %s", broken, got)
		}
		f := faultOf(t, broken+`; await memory.get_content({ ["z".repeat(100000)]: 1 })`)
		if f.Code != abi.InvalidArgument || !strings.Contains(f.Message, `no argument named "zzz`) || len(f.Message) > 400 {
			t.Errorf("Run after %s = %.400v; want a short invalid_argument", broken, f)
		}
	}
	f := faultOf(t, `const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); await memory.get_content(proxy)`)
	if f.Code == abi.Internal {
		t.Errorf("Run with a revoked proxy = %v", f)
	}
}

// TestMemoryAsObject checks that the global "memory" behaves like a plain object that contains
// functions.
func TestMemoryAsObject(t *testing.T) {
	for code, want := range map[string]string{
		`return Object.keys(memory).slice(0, 2);`:                                             `["get_content","set_content"]`,
		`return [memory.get_content.length, memory.get_content.name];`:                        `[3,"get_content"]`,
		`memory.get_content = () => "mine"; return memory.get_content();`:                     `"mine"`,
		`memory.extra = 1; return [Object.keys(memory).at(-1), "extra" in memory];`:           `["extra",true]`,
		`delete memory.get_content; return ["get_content" in memory, memory.get_content];`:    `[false,null]`,
		`for (const k in memory) delete memory[k]; return Object.keys(memory);`:               `[]`,
		`Object.defineProperty(memory, "x", {}); return ["x" in memory, memory.x];`:           `[true,null]`,
		`Object.defineProperty(memory, "get_content", {}); return typeof memory.get_content;`: `"function"`,
		`return Object.keys({ ...memory }).length === Object.keys(memory).length;`:            `true`,
		`return [Object.isFrozen(Object.freeze(memory)), Object.keys(memory).length];`:        `[true,13]`,
		`return [Object.isSealed(Object.seal(memory)), typeof memory.set_content];`:           `[true,"function"]`,
		`Object.preventExtensions(memory); return Reflect.set(memory, "extra", 1);`:           `false`,
		`Object.freeze(memory); return await memory.get_content("prefs");`:                    `null`,
		`Object.freeze(memory); try { memory.get_content = 1; } catch (e) { return e.name; }`: `"TypeError"`,
		`return [performance, console].map((o) => Object.isFrozen(Object.freeze(o)));`:        `[true,true]`,
	} {
		if got := answer(t, "'use strict'; "+code); got != want {
			t.Errorf("Run(%s) = %s; want %s", code, got, want)
		}
	}
}
