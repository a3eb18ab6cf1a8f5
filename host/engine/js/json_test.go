package js_test

import (
	"strings"
	"testing"
)

// TestJSONParse compares error messages of JSON.parse. They must be equal to the messages of
// Node.js 20.
func TestJSONParse(t *testing.T) {
	for code, want := range map[string]string{
		`Object.keys(JSON)`:                                         `[]`,
		`JSON.parse('"\\ud800"').charCodeAt(0)`:                     `55296`,
		`JSON.parse('"\ud800x"').charCodeAt(0)`:                     `55296`,
		`JSON.parse('"\\ud83d\\ude00"')`:                            `"😀"`,
		`Object.keys(JSON.parse('{"\\ud800":1}'))[0].charCodeAt(0)`: `55296`,
		`[JSON.parse('1e9999') === Infinity, JSON.parse('-1e9999') === -Infinity, Object.is(JSON.parse('-0'), -0), JSON.parse('1e-9999'), JSON.parse(' 12.5e1 ')]`: `[true,true,true,0,125]`,
		`JSON.parse('{"a":1,"a":2,"__proto__":3}')`:                                                                         `{"a":2,"__proto__":3}`,
		`JSON.parse('[1,{"b":[true,false,null]},"\\u00e9\\n\\/"]')`:                                                         `[1,{"b":[true,false,null]},"é\n/"]`,
		`JSON.parse('{"a":[1,2,3]}', (k, v) => k === "1" ? undefined : typeof v === "number" ? v * 2 : v)`:                  `{"a":[2,null,6]}`,
		`JSON.parse('{"a":1e9999,"b":"x"}', function (k, v) { return v === Infinity ? "inf" : k === "b" ? undefined : v })`: `{"a":"inf"}`,
		`JSON.parse(JSON.stringify({ a: "\ud800" })).a === "\ud800"`:                                                        `true`,
		`JSON.parse({ toString: () => "[7]" })`:                                                                             `[7]`,
	} {
		if got := answer(t, "return ("+code+");"); got != want {
			t.Errorf("%s\n = %s\n want %s", code, got, want)
		}
	}
	for text, want := range map[string]string{
		``:                             `Unexpected end of JSON input`,
		`undefined`:                    `"undefined" is not valid JSON`,
		`[object Object]`:              `"[object Object]" is not valid JSON`,
		`xyz`:                          `Unexpected token 'x', "xyz" is not valid JSON`,
		`{"a":1,}`:                     `Expected double-quoted property name in JSON at position 7`,
		`{a:1}`:                        `Expected property name or '}' in JSON at position 1`,
		`{"a" 1}`:                      `Expected ':' after property name in JSON at position 5`,
		`[1 2]`:                        `Expected ',' or ']' after array element in JSON at position 3`,
		`{"a":1 "b":2}`:                `Expected ',' or '}' after property value in JSON at position 7`,
		`[1,]`:                         `Unexpected token ']', "[1,]" is not valid JSON`,
		`1 2`:                          `Unexpected non-whitespace character after JSON at position 2`,
		`01`:                           `Unexpected number in JSON at position 1`,
		`-`:                            `No number after minus sign in JSON at position 1`,
		`1.`:                           `Unterminated fractional number in JSON at position 2`,
		`1e`:                           `Exponent part is missing a number in JSON at position 2`,
		`"ab`:                          `Unterminated string in JSON at position 3`,
		"\"a\nb\"":                     `Bad control character in string literal in JSON at position 2`,
		`"\x"`:                         `Bad escaped character in JSON at position 2`,
		`"\u12g4"`:                     `Bad Unicode escape in JSON at position 5`,
		`tru`:                          `Unexpected end of JSON input`,
		`<!DOCTYPE html><html></html>`: `Unexpected token '<', "<!DOCTYPE "... is not valid JSON`,
		`{"name": "someone", "x": oops, "y": 12345}`: `Unexpected token 'o', ..."ne", "x": oops, "y":"... is not valid JSON`,
		`{"name": "someone", "x": 12345, "y": oops`:  `Unexpected token 'o', ..."345, "y": oops" is not valid JSON`,
	} {
		got := answer(t, "try { return JSON.parse("+quoteJS(text)+") } catch (e) { return e.name + ': ' + e.message }")
		if got != quoteJS("SyntaxError: "+want) {
			t.Errorf("JSON.parse(%q) = %s\n want %s", text, got, want)
		}
	}
	for code, want := range map[string]string{
		`undefined`: `SyntaxError: "undefined" is not valid JSON`, `null`: `null`, `12`: `12`, `true`: `true`,
		`Symbol("s")`: `TypeError: `, `{}`: `SyntaxError: "[object Object]" is not valid JSON`, `10n`: `10`,
	} {
		got := answer(t, "try { return String(JSON.parse("+code+")) } catch (e) { return e.name + ': ' + e.message }")
		if !strings.HasPrefix(got, `"`+strings.ReplaceAll(want, `"`, `\"`)) {
			t.Errorf("JSON.parse(%s) = %s\n want %s", code, got, want)
		}
	}
	if got := answer(t, `try { JSON.parse('['.repeat(2000)) } catch (e) { return e.name }`); got != `"SyntaxError"` {
		t.Errorf("deep text: %s", got)
	}
}

func quoteJS(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}
