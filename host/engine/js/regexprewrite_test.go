package js_test

import (
	"strings"
	"testing"
)

// TestAnchors compares the results of line and word assertions with the results in V8.
func TestAnchors(t *testing.T) {
	for code, want := range map[string]string{
		`"k: v\r\nk2: v2\r\n".match(/^(\w+): (.*)$/gm)`:                                                                         `["k: v","k2: v2"]`,
		`"a\r\nb".match(/^.*$/gm)`:                                                                                              `["a","","b"]`,
		`encodeURI("x\ry\u2028z\u2029".replace(/$/gm, "|"))`:                                                                    `"x%7C%0Dy%7C%E2%80%A8z%7C%E2%80%A9%7C"`,
		`["x\ry".search(/^y/m), "x\ry".search(/^y/)]`:                                                                           `[2,-1]`,
		`"k: v\r\nk2: v2".match(new RegExp("^(\\w+): (.*)$", "gm"))`:                                                            `["k: v","k2: v2"]`,
		`"x\ry".match(RegExp("^y", "m")).index`:                                                                                 `2`,
		`"a\rb".match(new RegExp(/^b$/m))[0]`:                                                                                   `"b"`,
		`["a\rb".match(new RegExp(/^b$/m, "g")), "a\rb".match(new RegExp(/^b/, "m"))]`:                                          `[null,["b"]]`,
		`"café naïve".replace(/\b\w/g, (c) => c.toUpperCase())`:                                                                 `"Café NaïVe"`,
		`"naïve".split(/\b/)`:                                                                                                   `["na","ï","ve"]`,
		`["über".search(/\bber\b/), "日本 go".search(/\bgo\b/), "é1é".search(/\B1/)]`:                                             `[1,3,-1]`,
		`"naïve".split(new RegExp("\\b"))`:                                                                                      `["na","ï","ve"]`,
		`"naïve 1".match(/\p{L}+\b/gu)`:                                                                                         `["naïve"]`,
		`[/^a\b$/m.source, String(/^a\b$/gm), new RegExp("\\b/", "m").source]`:                                                  `["^a\\b$","/^a\\b$/gm","\\b\\/"]`,
		`[/[\b]/.test("\b"), /[$^]/m.exec("a$").index, /\$$/m.exec("$\r").index]`:                                               `[true,1,0]`,
		`class R extends RegExp {}; return "x\ry".match(new R("^y", "m")).index`:                                                `2`,
		`try { new RegExp("(\\b", "m") } catch (e) { var m = [e.name, /Invalid regular expression/.test(e.message)] } return m`: `["SyntaxError",true]`,
	} {
		if !strings.Contains(code, "return ") {
			code = "return " + code
		}
		if got := answer(t, code); got != want {
			t.Errorf("%s = %s; want %s", code, got, want)
		}
	}
}
