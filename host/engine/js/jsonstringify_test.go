package js_test

import "testing"

// TestStringifyIndents tests layouts. goja makes two mistakes in them: after an empty array or
// object, it indents the text one level too deep, and it measures the indentation in bytes instead
// of UTF-16 code units.
func TestStringifyIndents(t *testing.T) {
	for code, want := range map[string]string{
		`JSON.stringify({ a: [], b: { c: 1 } }, null, 2)`:                                                         `"{\n  \"a\": [],\n  \"b\": {\n    \"c\": 1\n  }\n}"`,
		`JSON.stringify([{}, [], [{}], 1], null, 1)`:                                                              `"[\n {},\n [],\n [\n  {}\n ],\n 1\n]"`,
		`JSON.stringify({ a: { b: undefined }, c: [1] }, null, '\t')`:                                             `"{\n\t\"a\": {},\n\t\"c\": [\n\t\t1\n\t]\n}"`,
		`JSON.stringify([], null, 2)`:                                                                             `"[]"`,
		`JSON.stringify('a{[,:"\\', null, 2)`:                                                                     `"\"a{[,:\\\"\\\\\""`,
		`JSON.stringify({ 'k"{': '[,\\"]' }, null, 1)`:                                                            `"{\n \"k\\\"{\": \"[,\\\\\\\"]\"\n}"`,
		`JSON.stringify({ ü: ['😀'] }, null, 1)`:                                                                   `"{\n \"ü\": [\n  \"😀\"\n ]\n}"`,
		`JSON.stringify([1], null, 'äöüäöüäöüäöü')`:                                                               `"[\näöüäöüäöüä1\n]"`,
		`JSON.stringify([1], null, '123456789\u{1F600}').length`:                                                  `15`,
		`JSON.stringify([1], null, 99)`:                                                                           `"[\n          1\n]"`,
		`JSON.stringify([1], null, Infinity)`:                                                                     `"[\n          1\n]"`,
		`JSON.stringify([1], null, 1.9)`:                                                                          `"[\n 1\n]"`,
		`[0, -1, NaN, 0.9, '', null, true, {}, Symbol.iterator].map((space) => JSON.stringify([1], null, space))`: `["[1]","[1]","[1]","[1]","[1]","[1]","[1]","[1]","[1]"]`,
		`JSON.stringify([1], null, new Number(1))`:                                                                `"[\n 1\n]"`,
		`JSON.stringify([1], null, new String('-'))`:                                                              `"[\n-1\n]"`,
		`JSON.stringify({ a: 1, b: [], c: { a: 2 } }, ['a', 'c', 'b'], 1)`:                                        `"{\n \"a\": 1,\n \"c\": {\n  \"a\": 2\n },\n \"b\": []\n}"`,
		`JSON.stringify({ a: [], b: [2] }, (k, v) => k === '0' ? v + 1 : v, 1)`:                                   `"{\n \"a\": [],\n \"b\": [\n  3\n ]\n}"`,
		`[JSON.stringify(undefined, null, 2), typeof JSON.stringify(() => 1, null, 2)]`:                           `[null,"undefined"]`,
		`[JSON.stringify.name, JSON.stringify.length, Object.keys(JSON)]`:                                         `["stringify",3,[]]`,
	} {
		if got := answer(t, "return "+code+";"); got != want {
			t.Errorf("%s = %s; want %s", code, got, want)
		}
	}
}
