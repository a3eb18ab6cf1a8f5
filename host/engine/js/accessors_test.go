package js_test

import "testing"

func TestOldAccessors(t *testing.T) {
	for code, want := range map[string]string{
		`const o = { n: 1 }; o.__defineGetter__("two", function () { return this.n + 1 }); o.__defineSetter__("two", function (v) { this.n = v }); o.two = 4; return [o.two, Object.keys(o)]`: `[5,["n","two"]]`,
		`class A { get x() { return 7 } set y(v) {} } const a = new A(); return [a.__lookupGetter__("x")(), typeof a.__lookupSetter__("y"), a.__lookupGetter__("none")]`:                      `[7,"function",null]`,
		`try { ({}).__defineGetter__("x", 1) } catch (e) { return e.message }`:                                                                                                                `"Object.prototype.__defineGetter__: Expecting function"`,
		`try { ({}).__lookupGetter__.call(null, "x") } catch (e) { return e.message }`:                                                                                                        `"Object.prototype.__lookupGetter__ called on null or undefined"`,
		`const f = Object.prototype.__defineSetter__; return [f.name, f.length, "prototype" in f, Object.keys(Object.prototype)]`:                                                             `["__defineSetter__",2,false,[]]`,
		`for (const k in {}) return k; return "__defineGetter__" in {}`:                                                                                                                       `true`,
	} {
		if got := answer(t, code); got != want {
			t.Errorf("%s = %s; want %s", code, got, want)
		}
	}
}
