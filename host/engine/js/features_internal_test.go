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
		if got := reaches(code, proxyNames()); got != want {
			t.Errorf("reaches(%s) = %t", code, got)
		}
	}
}

func TestReachesJSON(t *testing.T) {
	for code, want := range map[string]bool{
		`JSON.parse(text)`:                              true,
		`JS\u004fN.parse(text)`:                         true,
		`globalThis["JS" + "ON"].parse(text)`:           true,
		`Reflect.get(this, "JS" + "ON")`:                true,
		`new Proxy({}, { get: (t, key, it) => it[k] })`: true,
		`globalThis.count = 1`:                          false,
		`const [a] = input.list; return a`:              false,
	} {
		if got := reaches(code, jsonNames()); got != want {
			t.Errorf("reaches(%s) = %t; want %t", code, got, want)
		}
	}
}
