package js_test

import "testing"

// TestMathAsV8 checks that the functions of Math return the same last digits as in V8.
func TestMathAsV8(t *testing.T) {
	for code, want := range map[string]string{
		`[9 ** 1.5, Math.pow(1.0075, 360), 1.45 ** 3, 0.1 ** 2]`:                                                `[27,14.73057612304044,3.0486249999999995,0.010000000000000002]`,
		`[Math.sin(2), Math.cos(5), Math.tan(1), Math.atan2(12, 78)]`:                                           `[0.9092974268256817,0.28366218546322625,1.5574077246549023,0.15264932839526518]`,
		`[Math.log10(0.1), Math.log10(1000), Math.log2(8), Math.log(14)]`:                                       `[-1,3,3,2.6390573296152584]`,
		`[Math.cbrt(100), Math.exp(19), Math.sinh(19), Math.tanh(0.1)]`:                                         `[4.641588833612779,178482300.96318728,89241150.48159364,0.09966799462495582]`,
		`[2n ** 64n === 18446744073709551616n, (-2) ** 2, -(2 ** 2), 2 ** 3 ** 2]`:                              `[true,4,-4,512]`,
		`let x = 3, y = 2n; x **= 2; y **= 3n; return [x, y === 8n]`:                                            `[9,true]`,
		`["9" ** "1.5", { valueOf: () => 2n } ** 2n === 4n, null ** 1, Number.isNaN(undefined ** 1), [3] ** 2]`: `[27,true,0,true,9]`,
		`try { return 2n ** 2 } catch (e) { return e.name }`:                                                    `"TypeError"`,
		`try { return 2n ** -1n } catch (e) { return e.name }`:                                                  `"RangeError"`,
		`[Math.pow.name, Math.pow.length, Math.log10.length, Object.keys(Math)]`:                                `["pow",2,1,[]]`,
		`[1 ** Infinity, (-8) ** (1 / 3), 0 ** -1, (-0) ** -3, NaN ** 0].map(String)`:                           `["NaN","NaN","Infinity","-Infinity","1"]`,
	} {
		if code[0] == '[' {
			code = "return " + code
		}
		if got := answer(t, code); got != want {
			t.Errorf("%s = %s; want %s", code, got, want)
		}
	}
}
