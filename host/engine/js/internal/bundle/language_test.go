package bundle_test

import "testing"

// TestLanguage checks that the bundler rewrites syntax that goja does not support.
func TestLanguage(t *testing.T) {
	for _, tt := range []struct{ name, path, code, want string }{
		{"async generator", "tool.js", `async function* g() { yield 1; yield 2 } const a = []; for await (const x of g()) a.push(x); return a`, `[1,2]`},
		{"for await", "tool.js", `let n = 0; for await (const x of [1, Promise.resolve(2)]) n += x; return n`, `3`},
		{"async generator method", "tool.js", `class A { async *[Symbol.asyncIterator]() { yield* [1, 2] } } let n = 0; for await (const x of new A) n += x; return n`, `3`},
		{"class members", "tool.js", `class A { static #n = 1; #p = 2; static { A.m = A.#n + 1 } #f() { return this.#p } get v() { return this.#f() + A.m } static is(o) { return #p in o } } return [new A().v, A.is({})]`, `[4,false]`},
		{"decorator", "tool.ts", `function twice(f: any, _: any) { return function (this: any) { return f.call(this) * 2 } } class A { @twice m() { return 2 } } return new A().m()`, `4`},
		{"accessor", "tool.ts", `class A { accessor x = 1 } return new A().x`, `1`},
		{"using", "tool.js", `const log = []; { using a = { [Symbol.dispose]() { log.push("closed") } }; log.push("open") } return log`, `["open","closed"]`},
		{"operators", "tool.js", `let a = null; a ??= {}; a.b ||= 1; a.b &&= 2; return [a?.b, a?.x?.y ?? 3, 2 ** 3, 1_000, 10n > 9]`, `[2,3,8,1000,true]`},
		{"regular expressions", "tool.js", `return ["a1".match(/(?<d>\d)/).groups.d, /(?<=a)b/.test("ab"), /[à-ÿ]/u.test("ä"), /a.b/s.test("a\nb"), "aXa".replaceAll(/x/gi, "")]`, `["1",true,true,true,"aa"]`},
		{"import.meta", "tool.mjs", `export default () => typeof import.meta.url`, `"undefined"`},
		{"spread and rest", "tool.js", `const { a, ...r } = { a: 1, b: 2, c: 3 }; const f = (...x) => x.length; return [r, f(...[1, 2])]`, `[{"b":2,"c":3},2]`},
		{"generators and labels", "tool.js", `function* g() { yield* [1, 2, 3] } out: for (const x of g()) for (;;) { if (x < 2) continue out; return x }`, `2`},
		{"wide names", "tool.js", `const größe = 1, 名 = "値"; return [größe, 名, "😀".length]`, `[1,"値",2]`},
		{"catch without a name", "tool.js", `try { null.x } catch { return "caught" }`, `"caught"`},
		{"enums", "tool.ts", `const enum C { X = 5 } enum S { Y = "y" } return [1, C.X, S.Y]`, `[1,5,"y"]`},
		{"namespace", "tool.ts", `namespace N { export const a = 1 } export const main = () => N.a`, `1`},
		{"symbols", "tool.js", `{ using a = { [Symbol.dispose]() {} } } return [typeof Symbol.asyncIterator, typeof Symbol.dispose]`, `["symbol","symbol"]`},
		{"typescript syntax", "tool.ts", `abstract class A<T> { constructor(protected readonly x: T) {} abstract f(): T } class B extends A<number> { override f() { return this.x! } } const f = <T,>(x: T): x is T => !!x; return [new B(1).f(), f(<any>1), 1 as unknown as number satisfies number]`, `[1,true,1]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			answers(t, source(tt.path, tt.code, nil), `{}`, tt.want)
		})
	}
}
