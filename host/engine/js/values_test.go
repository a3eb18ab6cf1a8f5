package js_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/enginetest"
)

func TestValuesWritten(t *testing.T) {
	for code, want := range map[string]string{
		`undefined`:                        `null`,
		`-0`:                               `0`,
		`[0.1, 1e21, -1e-7, 2**53, 2**31]`: `[0.1,1e+21,-1e-7,9007199254740992,2147483648]`,
		`[undefined, , null]`:              `[null,null,null]`,
		`{ a: undefined, b: 1, [Symbol('s')]: 2 }`: `{"b":1}`,
		`new Date(0)`: `"1970-01-01T00:00:00.000Z"`,
		`new (class A { x = 1; #y = 2; get z() {} })`:                               `{"x":1}`,
		`{ toJSON(key) { return [key, this.a]; }, a: 1 }`:                           `["",1]`,
		`{ k: { toJSON: (key) => key } }`:                                           `{"k":"k"}`,
		`[new Number(1), new String('s'), new Boolean(false), Object.create(null)]`: `[1,"s",false,{}]`,
		`new Proxy([1, 2], {})`:                                                     `[1,2]`,
		`new Proxy({ a: 1 }, {})`:                                                   `{"a":1}`,
		`JSON.rawJSON('12345678901234567890')`:                                      `12345678901234567890`,
		`'\u{1F600}\u2028"\\\n\u0001'`:                                              "\"\U0001F600\u2028\\\"\\\\\\n\\u0001\"",
		`'\ufffd'`:                                                                  "\"\ufffd\"",
		`{ '\ufffd': 1 }`:                                                           "{\"\ufffd\":1}",
		`{ ['__proto__']: 1 }`:                                                      `{"__proto__":1}`,
		`(() => { const a = {}; return [a, a]; })()`:                                `[{},{}]`,
		`(function () { return arguments; })(1, 2)`:                                 `{"0":1,"1":2}`,
		`new Map([[1, 2]]).size`:                                                    `1`,
		`Object.assign(new Map(), { toJSON: () => 'm' })`:                           `"m"`,
		`(BigInt.prototype.toJSON = function () { return String(this); }, [10n])`:   `["10"]`,
	} {
		if got := answer(t, "return ("+code+");"); got != want {
			t.Errorf("Run(%s) = %s; want %s", code, got, want)
		}
	}
}

func TestValuesRefused(t *testing.T) {
	for code, want := range map[string]string{
		`10n`:                              "output is a BigInt",
		`Object(10n)`:                      "output is a BigInt",
		`Object(Symbol('s'))`:              "output is a symbol",
		`new Map()`:                        "output is a Map",
		`[new Set()]`:                      "output[0] is a Set",
		`new WeakMap()`:                    "output is a WeakMap",
		`new WeakSet()`:                    "output is a WeakSet",
		`/x/`:                              "output is a RegExp",
		`new Error('e')`:                   "output is an Error",
		`[Promise.resolve(1)]`:             "output[0] is a promise; is an await missing?",
		`new Uint8Array(1)`:                "output is a typed array",
		`new Float64Array(1)`:              "output is a typed array",
		`new ArrayBuffer(1)`:               "output is an ArrayBuffer",
		`new DataView(new ArrayBuffer(1))`: "output is a DataView",
		`(function* () {})()`:              "output is a generator",
		`new Date(NaN)`:                    "output is an invalid Date",
		`'a\ud800'`:                        "output contains an unpaired surrogate",
		`'\udc00\ud800'`:                   "output contains an unpaired surrogate",
		`{ '\ud800': 1 }`:                  "has an unpaired surrogate in its name",
		`{ '\ud800': 1, '\ufffd': 2 }`:     "has an unpaired surrogate in its name",
		`(() => { const a = { b: [] }; a.b.push(a); return a; })()`:                                  "output.b[0] contains itself",
		`(() => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return [proxy]; })()`: "revoked",
	} {
		f := faultOf(t, "return ("+code+");")
		if !strings.Contains(f.Message, want) {
			t.Errorf("Run(%s) = %v; want %q in it", code, f, want)
		}
		if f.Code != abi.OutputInvalid && want != "revoked" {
			t.Errorf("Run(%s) = %v; want code output_invalid", code, f)
		}
	}
}

// TestValuesWrittenWithWarnings tests output values that JSON cannot represent. The engine must
// replace or omit the same values as JSON.stringify, and warn the author.
func TestValuesWrittenWithWarnings(t *testing.T) {
	for _, tt := range []struct{ code, output, warning string }{
		{`{ items: [0, { price: NaN }] }`, `{"items":[0,{"price":null}]}`, "output.items[1].price is NaN and was replaced by null because it has no JSON representation"},
		{`-Infinity`, `null`, "output is infinite"},
		{`[new Number(NaN)]`, `[null]`, "output[0] is NaN"},
		{`{ a: 1, 'a b': { f() {} } }`, `{"a":1,"a b":{}}`, `output["a b"].f is a function and was omitted because it has no JSON representation`},
		{`[() => 1, class A {}, new Proxy(() => 1, {})]`, `[null,null,null]`, "output[2] is a function"},
		{`async () => 1`, `null`, "output is a function"},
		{`{ s: Symbol('s') }`, `{}`, "output.s is a symbol"},
		{`Array(9).fill(NaN)`, `[null,null,null,null,null,null,null,null,null]`, "4 more values of the output have no JSON representation"},
		{`{ toJSON: () => NaN }`, `null`, "output is NaN"},
		{`{ f: Object.assign(() => 1, { toJSON: () => 'f' }) }`, `{"f":"f"}`, ""},
	} {
		out, err := run(t, "return ("+tt.code+");")
		if err != nil || string(out.Output) != tt.output {
			t.Errorf("Run(%s) = %s, %v; want %s", tt.code, out.Output, err, tt.output)
		}
		if warnings := strings.Join(out.Warnings, "\n"); !strings.Contains(warnings, tt.warning) || tt.warning == "" && warnings != "" || len(out.Warnings) > 6 {
			t.Errorf("Run(%s): warnings %q; want %q", tt.code, warnings, tt.warning)
		}
	}
}

func TestValuesRefusedAsArgument(t *testing.T) {
	for code, want := range map[string]string{
		`{ items: [0, 1, 2, { price: NaN }] }`: `["invalid_argument","set_content: value.items[3].price is NaN; use null"]`,
		`new Map()`:                            `["invalid_argument","set_content: value is a Map; use Object.fromEntries(map)"]`,
		`'x'.repeat(17 << 20)`:                 `["too_large"`,
		`[].concat(...Array.from({ length: 12 }, () => 0).map(() => [])), deep(150)`: `["too_large"`,
	} {
		got := answer(t, `
			const deep = (n) => { let a = []; while (n-- > 0) a = [a]; return a; };
			const error = await memory.set_content('prefs', (`+code+`)).catch((e) => e);
			return [error.code, error.message];`)
		if !strings.HasPrefix(got, want) {
			t.Errorf("set_content(%s) = %s; want %s", code, got, want)
		}
	}
}

// TestValuesUnderPollution tests a guest that changes shared prototypes. The changes must affect
// only the guest itself.
func TestValuesUnderPollution(t *testing.T) {
	pollution := `
		Object.prototype.toJSON = Array.prototype.toJSON = () => 'planted';
		Object.defineProperty(Object.prototype, 'code', { set() { throw new Error('setter'); }, configurable: true });
		JSON.stringify = JSON.parse = () => 'replaced';
		Object.keys = () => ['evil'];
		Array.prototype[Symbol.iterator] = function* () { yield 'evil'; };
		globalThis.Promise = globalThis.Object = globalThis.Array = undefined;
		String.prototype.toString = Number.prototype.valueOf = () => 'evil';
	`
	m := enginetest.NewMemory(errHalt)
	out, err := runWith(t, pollution+`
		const seen = [];
		await memory.set_content('prefs', { a: [1, 'b'], n: 2 });
		seen.push(await memory.get_content('prefs'));
		try { await memory.get_content('forbidden'); } catch (e) { seen.push(e.code, e.message); }
		context.added = { a: [1] };
		return { seen, input };`,
		engine.Input{Input: json.RawMessage(`{"a":[{}]}`)}, m)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"seen":[{"a":[1,"b"],"n":2},"access_denied","the tool may not read forbidden"],"input":{"a":[{}]}}`
	if string(out.Output) != want {
		t.Errorf("output = %s; want %s", out.Output, want)
	}
	if string(out.Context) != `{"added":{"a":[1]}}` {
		t.Errorf("context = %s", out.Context)
	}
}

// FuzzIdentity passes arbitrary JSON to a guest. The guest stores its input in memory and returns
// the input.
func FuzzIdentity(f *testing.F) {
	for _, seed := range []string{
		`null`, `{"a":[1,2.5,-0,1e300]}`, `"\ud83d\ude00 \u0000"`, `{"__proto__":{"toJSON":1}}`, `[[[]],{"":{}}]`,
		`{"b":1,"a":2,"1":3,"01":4}`, `"\ufffd"`, `{"then":"x","length":-1}`, `123456789012345678901234567890`,
	} {
		f.Add(seed)
	}
	program, err := newEngine(f).Load(f.Context(), engine.Source{Path: "tool.js", Code: []byte(`
		await memory.set_content('prefs', input);
		context.value = input.value;
		return [input.value, (await memory.get_content('prefs')).value];`)})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var want any
		if json.Unmarshal([]byte(text), &want) != nil || strings.Count(text, "[")+strings.Count(text, "{") > 90 {
			return
		}
		var compact bytes.Buffer
		_ = json.Compact(&compact, []byte(text))
		in := engine.Input{Input: json.RawMessage(`{"value":` + compact.String() + `}`)}
		out, err := program.Run(t.Context(), in, enginetest.NewMemory(errHalt).Host())
		if err != nil {
			t.Fatalf("Run with %s = %v", text, err)
		}
		var got []any
		if err := json.Unmarshal(out.Output, &got); err != nil {
			t.Fatalf("output %s is not JSON: %v", out.Output, err)
		}
		if !reflect.DeepEqual(got, []any{want, want}) {
			t.Errorf("output = %s; want %s twice", out.Output, text)
		}
	})
}
