package js_test

import (
	"strings"
	"testing"
)

// TestAsyncGenerators tests those cases in which esbuild's helpers deviate from the language.
func TestAsyncGenerators(t *testing.T) {
	const log = "const seen = []; "
	for body, want := range map[string]string{
		// A consumer leaves the loop. The code after an await in a finally clause must then run.
		log + `async function* g() { try { yield 1; yield 2 } finally { await null; seen.push("closed") } } for await (const x of g()) { seen.push(x); break } return seen`: `[1,"closed"]`,
		// A return statement in a try block must await its value within this block.
		`async function* g() { try { return Promise.reject(new Error("late")) } catch (e) { yield e.message } } return (await g().next()).value`:                                       `"late"`,
		`async function* g() { try { yield 1 } catch (e) { yield "caught " + e } } const i = g(); await i.next(); return (await i.return(Promise.reject("no"))).value`:                 `"caught no"`,
		`async function* g() { return Promise.resolve(3) } return await g().next()`:                                                                                                    `{"value":3,"done":true}`,
		`async function* g() { const inner = async () => { return 1 }; const f = function () { return 2 }; return [await inner(), f()] } return (await g().next()).value`:              `[1,2]`,
		`async function* g() { yield Promise.resolve(1) } const i = g(); return [await i.return(7), await i.next(), await g().return(Promise.resolve(2))].map((r) => r.value ?? null)`: `[7,null,2]`,
		// yield* must read the method "next" of an iterator only once. If an iterator has no method
		// "throw", yield* must close it. yield* must also pass the argument of the method "return"
		// to the iterator.
		log + `const it = { [Symbol.asyncIterator]() { return { get next() { seen.push("get next"); let n = 0; return () => ({ done: n++ > 1, value: n }) } } } }; async function* g() { seen.push(yield* it) } for await (const x of g()) seen.push(x); return seen`:                             `["get next",1,2,3]`,
		log + `const it = { [Symbol.iterator]() { return { next() { return { done: false, value: 1 } }, return() { seen.push("closed"); return {} } } } }; async function* g() { yield* it } const i = g(); await i.next(); try { await i.throw(1) } catch (e) { seen.push(e.name) } return seen`: `["closed","TypeError"]`,
		log + `async function* inner() { try { yield 1 } finally { await 0; seen.push("inner") } } async function* g() { try { yield* inner() } finally { seen.push("outer") } } for await (const x of g()) break; return seen`:                                                                   `["inner","outer"]`,
		log + `async function* inner() { try { yield 1 } catch (e) { yield e } } async function* g() { yield* inner() } const i = g(); await i.next(); return (await i.throw(5)).value`:                                                                                                           `5`,
		`async function* g() { try { yield* [1, Promise.reject("r"), 3] } catch (e) { yield e } } const all = []; for await (const x of g()) all.push(x); return all`:                                                                                                                             `[1,"r"]`,
		// A generator must answer concurrent requests in the order in which they were made.
		`async function* g() { yield 1; yield 2 } const i = g(); return (await Promise.all([i.next(), i.next(), i.next(), i.next()])).map((r) => [r.value ?? null, r.done])`:        `[[1,false],[2,false],[null,true],[null,true]]`,
		log + `async function* g() { yield 1 } const i = g(); i.return(1).then((r) => seen.push(r)); i.throw("x").catch((e) => seen.push(e)); await i.next(); await 0; return seen`: `[{"value":1,"done":true},"x"]`,
		// A for await loop must accept a synchronous iterable.
		log + `const it = { [Symbol.iterator]() { return { n: 0, next() { return { done: this.n > 2, value: Promise.resolve(this.n++) } }, return() { seen.push("closed"); return {} } } } }; for await (const x of it) { seen.push(x); if (x) break } return seen`: `[0,1,"closed"]`,
		log + `const it = { *[Symbol.iterator]() { try { yield Promise.reject("no") } finally { seen.push("closed") } } }; try { for await (const x of it) seen.push(x) } catch (e) { seen.push(e) } return seen`:                                                   `["closed","no"]`,
		`try { for await (const x of 5) ; } catch (e) { return e.name }`: `"TypeError"`,
		// The getter "constructor" of an awaited promise throws an error.
		log + `const p = Promise.resolve(1); Object.defineProperty(p, "constructor", { get() { throw new Error("no") } }); async function* g() { try { yield p } catch (e) { yield e.message } } for await (const x of g()) seen.push(x); try { for await (const x of [p]) ; } catch (e) { seen.push(e.message) } return seen`: `["no","no"]`,
		// These tests read properties of generators and of generator functions.
		`async function* g() {} const i = g(), p = Object.getPrototypeOf(i); return [String(i), p.next.length, p.next.name, i[Symbol.asyncIterator]() === i, Object.keys(p), Reflect.ownKeys(i)]`:                    `["[object AsyncGenerator]",1,"next",true,[],[]]`,
		`async function* g() { "use strict"; yield 1 } return [g.constructor.name, String(g), Object.getPrototypeOf(g) === Function.prototype, g instanceof Function, g.name].map((v) => String(v).slice(0, 22))`:    `["AsyncGeneratorFunction","function g() {\n       ","false","true","g"]`,
		`const tag = (f) => Object.prototype.toString.call(f); function h() { "use strict"; return (function () { return this === undefined })(); async function* g() {} } return [tag(async function* () {}), h()]`: `["[object AsyncGeneratorFunction]",true]`,
		`async function* g() {} try { g.constructor("1") } catch (e) { return e.name }`:                                                                                                                              `"EvalError"`,
		`async function* g() {} const { next } = g(); try { await next.call({}) } catch (e) { return e.name }`:                                                                                                       `"TypeError"`,
		`class C { #x = 4; async *m() { yield this.#x; yield arguments.length } } const all = []; for await (const x of new C().m(1, 2)) all.push(x); return all`:                                                    `[4,2]`,
		`Promise.prototype.then = 5; async function* g() { yield 1 } return (await g().next()).value`:                                                                                                                `1`,
	} {
		if got := answer(t, body); got != want {
			t.Errorf("%s\n = %s\n want %s", body, got, want)
		}
	}
}

// TestForeignHelpers checks that the helpers in an already bundled package are not replaced.
func TestForeignHelpers(t *testing.T) {
	const foreign = `var __await = function(promise, isYieldStar) { this[0] = promise; this[1] = isYieldStar; };
var __asyncGenerator = (__this, __arguments, generator) => { var resume = 1; return [generator.apply(__this, __arguments).next().value instanceof __await, resume] };
function f() { return __asyncGenerator(this, null, function* () { yield new __await(1) }) }
`
	for body, want := range map[string]string{
		foreign + `return [String(f())]`: `["[object AsyncGenerator]"]`,
		foreign + `async function* g() { yield 1 } return [f(), (await g().next()).value]`: `[[true,1],1]`,
	} {
		if got := answer(t, body); got != want {
			t.Errorf("%s\n = %s\n want %s", strings.TrimPrefix(body, foreign), got, want)
		}
	}
}
