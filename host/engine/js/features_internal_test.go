package js

import "testing"

func TestReachesProxy(t *testing.T) {
	for code, want := range map[string]bool{
		`new Proxy({}, {})`:                          true,
		`new Pro\u0078y({}, {})`:                     true,
		`new globalThis["Pro" + "xy"]({}, {})`:       true,
		`const { "Pro\x78y": P } = globalThis`:       true,
		`const { [name]: P } = this`:                 true,
		`Reflect.get(globalThis, "Pro" + "xy")`:      true,
		`Object.getOwnPropertyDescriptor(this, key)`: true,
		`globalThis.count = 1`:                       false,
		`class A { b() { return this.c } }`:          false,
		`const [a] = input.list; return a`:           false,
	} {
		if got := reachesProxy(code); got != want {
			t.Errorf("reachesProxy(%s) = %t", code, got)
		}
	}
}
