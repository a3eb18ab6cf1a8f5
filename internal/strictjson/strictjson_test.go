package strictjson_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolrun/toolrun/internal/strictjson"
)

func Example() {
	tree, err := strictjson.Decode([]byte(`{"b": [1.50, "<ü>"], "a": null}`), strictjson.Limits{Depth: 10})
	if err != nil {
		fmt.Println(err)
		return
	}
	text, _ := strictjson.Encode(tree)
	fmt.Println(string(text))

	_, err = strictjson.Decode([]byte(`{"a": 1, "\u0061": 2}`), strictjson.Limits{})
	fmt.Println(err)
	// Output:
	// {"a":null,"b":[1.50,"<ü>"]}
	// an object has the same member name twice at byte 9
}

func TestCheckAccepts(t *testing.T) {
	for _, text := range []string{
		`null`, ` true `, "\t\r\n[ ]\n", `false`, `{}`, `{ "a" : [ 1 , { } ] }`,
		`0`, `-0`, `-0.0e-0`, `1E+308`, `1e-308`, `1e0000308`, strings.Repeat("9", 40),
		`""`, `"\"\\\/\b\f\n\r\t\u00e9"`, `"😀 \ud83d\ude00 \uD83D\uDE00"`, `"\u0000"`, "\"\x7f\u2028\ufeff\ufffd\"",
		`{"__proto__":1,"":2,"\u0000":3,"constructor":4}`,
		`{"a":1,"A":2,"a\u0000":3,"á":4,"a\u0301":5}`, // names are compared without case folding and normalization
		`{"a":{"a":{"a":1}},"b":{"a":1}}`,             // different objects contain the same name
		`[{"a":1},{"a":2}]`,
	} {
		if err := strictjson.Check([]byte(text), strictjson.Limits{}); err != nil {
			t.Errorf("Check(%s) = %v; want nil", text, err)
		}
	}
}

func TestCheckRefuses(t *testing.T) {
	tests := []struct {
		name, text string
		kind       strictjson.Kind
		offset     int
	}{
		{"nothing", ``, strictjson.Malformed, 0},
		{"only space", ` `, strictjson.Malformed, 1},
		{"two values", `1 2`, strictjson.Malformed, 2},
		{"byte order mark", "\ufeff{}", strictjson.Malformed, 0},
		{"NUL after the value", "{}\x00", strictjson.Malformed, 2},
		{"space that JSON does not allow", "\u00a01", strictjson.Malformed, 0},
		{"form feed", "\f1", strictjson.Malformed, 0},
		{"word", `nul`, strictjson.Malformed, 3},
		{"word in capitals", `True`, strictjson.Malformed, 0},
		{"NaN", `NaN`, strictjson.Malformed, 0},
		{"comment", `/**/1`, strictjson.Malformed, 0},
		{"open array", `[1`, strictjson.Malformed, 2},
		{"comma at the end of an array", `[1,]`, strictjson.Malformed, 3},
		{"no comma", `[1 2]`, strictjson.Malformed, 3},
		{"closed by the wrong bracket", `[1}`, strictjson.Malformed, 2},
		{"open object", `{"a":1`, strictjson.Malformed, 6},
		{"comma at the end of an object", `{"a":1,}`, strictjson.Malformed, 7},
		{"bare name", `{a:1}`, strictjson.Malformed, 1},
		{"no colon", `{"a" 1}`, strictjson.Malformed, 5},
		{"no value", `{"a":}`, strictjson.Malformed, 5},
		{"open string", `"a`, strictjson.Malformed, 2},
		{"single quotes", `'a'`, strictjson.Malformed, 0},
		{"newline in a string", "\"a\nb\"", strictjson.Malformed, 2},
		{"unknown escape", `"\x41"`, strictjson.Malformed, 1},
		{"escape at the end", `"\`, strictjson.Malformed, 1},
		{"short escape", `"\u12"`, strictjson.Malformed, 1},
		{"no hexadecimal", `"\u12g4"`, strictjson.Malformed, 1},
		{"latin-1", "\"\xe9\"", strictjson.Malformed, 1},
		{"overlong UTF-8", "\"\xc0\x80\"", strictjson.Malformed, 1},
		{"surrogate in UTF-8", "\"\xed\xa0\x80\"", strictjson.Malformed, 1},
		{"cut UTF-8", "\"\xf0\x9f\x98", strictjson.Malformed, 1},
		{"invalid UTF-8 in a name", "{\"\xff\":1}", strictjson.Malformed, 2},
		{"lone high surrogate", `"\ud83d"`, strictjson.Malformed, 1},
		{"high surrogate and text", `"\ud83dx"`, strictjson.Malformed, 1},
		{"high surrogate twice", `"\ud83d\ud83d"`, strictjson.Malformed, 1},
		{"lone low surrogate", `"\ude00"`, strictjson.Malformed, 1},
		{"surrogates in the wrong order", `"\ude00\ud83d"`, strictjson.Malformed, 1},
		{"surrogate in a name", `{"\ud83d":1}`, strictjson.Malformed, 2},
		{"leading zero", `01`, strictjson.Malformed, 1},
		{"leading plus", `+1`, strictjson.Malformed, 0},
		{"only a minus", `-`, strictjson.Malformed, 1},
		{"nothing after the point", `1.`, strictjson.Malformed, 2},
		{"nothing before the point", `.5`, strictjson.Malformed, 0},
		{"nothing in the exponent", `1e+`, strictjson.Malformed, 3},
		{"hexadecimal number", `0x10`, strictjson.Malformed, 1},
		{"a name twice", `{"a":1,"b":2,"a":3}`, strictjson.Malformed, 13},
		{"an empty name twice", `{"":1,"":2}`, strictjson.Malformed, 6},
		{"a name twice below", `[{"x":{"a":1,"a":2}}]`, strictjson.Malformed, 13},
		{"a name twice, escaped", `{"a":1,"\u0061":2}`, strictjson.Malformed, 7},
		{"a name twice, both escaped", `{"\n":1,"\u000a":2}`, strictjson.Malformed, 8},
		{"a name twice, slash", `{"/":1,"\/":2}`, strictjson.Malformed, 7},
		{"a name twice, pair", `{"😀":1,"\ud83D\uDe00":2}`, strictjson.Malformed, 10},
		{"number of 41 characters", `[` + strings.Repeat("9", 41) + `]`, strictjson.BadNumber, 1},
		{"exponent 309", `1e309`, strictjson.BadNumber, 0},
		{"exponent -309", `1e-309`, strictjson.BadNumber, 0},
		{"exponent that overflows", `1e18446744073709551616`, strictjson.BadNumber, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := strictjson.Check([]byte(tt.text), strictjson.Limits{})
			wantError(t, err, tt.kind)
			if e, _ := errors.AsType[*strictjson.Error](err); e.Offset != tt.offset {
				t.Errorf("offset of %q = %d; want %d", e, e.Offset, tt.offset)
			}
			if _, err := strictjson.Decode([]byte(tt.text), strictjson.Limits{}); err == nil {
				t.Errorf("Decode accepted a text that Check rejects")
			}
		})
	}
}

func TestLimits(t *testing.T) {
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	objects := func(n int) string { return strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n) }
	tests := []struct {
		name, text string
		lim        strictjson.Limits
		want       strictjson.Kind
	}{
		{"depth at the limit", nested(3), strictjson.Limits{Depth: 3}, ""},
		{"depth over it", nested(4), strictjson.Limits{Depth: 3}, strictjson.TooDeep},
		{"objects over it", objects(4), strictjson.Limits{Depth: 3}, strictjson.TooDeep},
		{"siblings do not add depth", `[[[]],[[]],{"a":[]}]`, strictjson.Limits{Depth: 3}, ""},
		{"default depth", nested(1000), strictjson.Limits{}, ""},
		{"over the default depth", nested(1001), strictjson.Limits{}, strictjson.TooDeep},
		{"greatest depth", nested(10_000), strictjson.Limits{Depth: 1 << 30}, ""},
		{"over the greatest depth", nested(10_001), strictjson.Limits{Depth: 1 << 30}, strictjson.TooDeep},
		{"a megabyte of brackets", strings.Repeat("[", 1<<20), strictjson.Limits{}, strictjson.TooDeep},
		{"keys at the limit", members(3), strictjson.Limits{Keys: 3}, ""},
		{"keys over it", members(4), strictjson.Limits{Keys: 3}, strictjson.TooManyKeys},
		{"keys count by object", `[{"a":1,"b":2},{"a":1,"b":{"a":1,"b":2}}]`, strictjson.Limits{Keys: 2}, ""},
		{"default keys", members(100_000), strictjson.Limits{}, ""},
		{"over the default keys", members(100_001), strictjson.Limits{}, strictjson.TooManyKeys},
		{"values at the limit", `{"a":[1,{}],"b":null}`, strictjson.Limits{Values: 5}, ""},
		{"values over it", `{"a":[1,{}],"b":null}`, strictjson.Limits{Values: 4}, strictjson.TooManyValues},
		{"one value", `1`, strictjson.Limits{Values: 1}, ""},
		{"default values", ones(999_999), strictjson.Limits{}, ""},
		{"over the default values", ones(1_000_000), strictjson.Limits{}, strictjson.TooManyValues},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := strictjson.Decode([]byte(tt.text), tt.lim)
			if tt.want != "" {
				wantError(t, err, tt.want)
				return
			}
			if err != nil {
				t.Errorf("Decode = %v; want nil", err)
			}
		})
	}
}

// TestRepeatedNameAmongMany checks that duplicate names are found at any position, in small objects
// and in large objects.
func TestRepeatedNameAmongMany(t *testing.T) {
	for _, n := range []int{1, 2, 11, 12, 13, 100, 1000} {
		for _, at := range []int{0, n / 2, n - 1} {
			for _, spelling := range []string{fmt.Sprintf("k%d", at), fmt.Sprintf(`\u006b%d`, at)} {
				text := strings.TrimSuffix(members(n), "}") + fmt.Sprintf(`,"%s":0}`, spelling)
				err := strictjson.Check([]byte(text), strictjson.Limits{})
				wantError(t, err, strictjson.Malformed)
				e, _ := errors.AsType[*strictjson.Error](err)
				if want := len(members(n)); e.Offset != want {
					t.Errorf("n=%d name %s: offset %d; want %d", n, spelling, e.Offset, want)
				}
			}
		}
	}
}

func TestCheckDoesNotAllocate(t *testing.T) {
	text := []byte(order)
	if n := testing.AllocsPerRun(10, func() { _ = strictjson.Check(text, strictjson.Limits{}) }); n != 0 {
		t.Errorf("Check made %v allocations; want 0", n)
	}
}

func TestErrorsQuoteNothing(t *testing.T) {
	for _, text := range []string{`{"hunter2":1,"hunter2":2}`, `[hunter2]`, `"hunter2`, `{"hunter2" 1}`} {
		_, err := strictjson.Decode([]byte(text), strictjson.Limits{})
		if err == nil || strings.Contains(err.Error(), "hunter") {
			t.Errorf("Decode(%s) = %v; want an error that does not quote it", text, err)
		}
	}
	_, err := strictjson.Encode(map[string]any{"a": json.Number("hunter2")})
	if err == nil || strings.Contains(err.Error(), "hunter") {
		t.Errorf("Encode of a bad number = %v; want an error that does not quote it", err)
	}
}

func TestDecode(t *testing.T) {
	got, err := strictjson.Decode([]byte(`{"n":[1.0,1e2,-0,12345678901234567890],"s":"<é\u0000>","t":true,"z":null,"__proto__":{"":1}}`), strictjson.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"n": []any{json.Number("1.0"), json.Number("1e2"), json.Number("-0"), json.Number("12345678901234567890")},
		"s": "<é\x00>", "t": true, "z": nil, "__proto__": map[string]any{"": json.Number("1")},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Decode (-want +got):\n%s", diff)
	}
}

func TestEncode(t *testing.T) {
	tests := []struct {
		value any
		want  string
	}{
		{nil, `null`},
		{"<a href='&'>\n", `"<a href='&'>\n"`},
		{json.Number("1.500e+02"), `1.500e+02`},
		{[]any{}, `[]`},
		{map[string]any{"b": 1, "B": 2, "a": []any{map[string]any{}}}, `{"B":2,"a":[{}],"b":1}`},
	}
	for _, tt := range tests {
		got, err := strictjson.Encode(tt.value)
		if err != nil || string(got) != tt.want {
			t.Errorf("Encode(%v) = %s, %v; want %s", tt.value, got, err, tt.want)
		}
	}
}

func TestEncodeFails(t *testing.T) {
	loop := map[string]any{}
	loop["secret"] = []any{loop}
	for name, value := range map[string]any{
		"an invalid number": json.Number("secret"), "a number and text": json.Number("1,secret"),
		"a function": []any{func() {}}, "an object that contains itself": loop,
	} {
		if text, err := strictjson.Encode(value); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("Encode of %s = %s, %v; want an error that does not quote the value", name, text, err)
		}
	}
}

func TestClone(t *testing.T) {
	decode := func() any {
		v, err := strictjson.Decode([]byte(`{"a":{"b":[{"c":1},2,[3]]},"e":[],"o":{},"n":null}`), strictjson.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	original := decode()
	clone := strictjson.Clone(original)
	if diff := cmp.Diff(decode(), clone); diff != "" {
		t.Errorf("Clone (-want +got):\n%s", diff)
	}
	b := clone.(map[string]any)["a"].(map[string]any)["b"].([]any)
	b[0].(map[string]any)["c"] = "changed"
	b[2].([]any)[0] = "changed"
	b[1] = "changed"
	clone.(map[string]any)["new"] = true
	if diff := cmp.Diff(decode(), original); diff != "" {
		t.Errorf("a change of the clone changed the original (-want +got):\n%s", diff)
	}
	for _, v := range []any{map[string]any(nil), []any(nil), nil} {
		if text, err := strictjson.Encode(strictjson.Clone(v)); err != nil || string(text) != "null" {
			t.Errorf("Clone(%#v) encodes as %s, %v; want null", v, text, err)
		}
	}
}

func wantError(t *testing.T, err error, kind strictjson.Kind) {
	t.Helper()
	e, ok := errors.AsType[*strictjson.Error](err)
	if !ok || e.Kind != kind {
		t.Fatalf("error = %v; want a *strictjson.Error of kind %s", err, kind)
	}
}

// ones returns an array of n numbers.
func ones(n int) string { return "[1" + strings.Repeat(",1", n-1) + "]" }

// members returns an object of n members k0, k1 and so on.
func members(n int) string {
	var b strings.Builder
	b.WriteString("{")
	for i := range n {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, `"k%d":%d`, i, i)
	}
	b.WriteString("}")
	return b.String()
}

// order is a typical document of a tool.
const order = `{"preferences":{"language":"de","notifications":true,"theme":null},"lastVisit":"2024-05-01T10:00:00Z",
"recentOrders":[{"id":"o-1","total":19.99,"items":["Käse","Brot"]},{"id":"o-2","total":5,"items":[]}],"visits":12}`

func BenchmarkCheck(b *testing.B) {
	escaped := strings.ReplaceAll(members(100_000), `"k`, `"\u006b`)
	for name, text := range map[string]string{"order": order, "100000 members": members(100_000), "100000 escaped members": escaped} {
		b.Run(name, func(b *testing.B) {
			text := []byte(text)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if err := strictjson.Check(text, strictjson.Limits{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	b.SetBytes(int64(len(order)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := strictjson.Decode([]byte(order), strictjson.Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	value, err := strictjson.Decode([]byte(order), strictjson.Limits{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := strictjson.Encode(value); err != nil {
			b.Fatal(err)
		}
	}
}

func TestPath(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{`^`, ""}, {`"^`, ""}, {`{^`, ""}, {`{"a":^`, "a"}, {`{"a":1,^`, ""}, {`{"a":1,"b":^`, "b"}, {`{"a":{"b":[1,^`, "a.b[1]"},
		{`{"items":[1,{"p":2},{"price": ^`, "items[2].price"}, {`[[1],[2,[]],^`, "[2]"}, {`[{"a":1}^`, "[0]"}, {`{"a\"}":["]",^`, `a"}[1]`},
		{`{"x":"y","z":"^`, "z"},
	} {
		text := strings.Replace(test.text, "^", "", 1)
		if got := strictjson.Path([]byte(text+"?"), strings.Index(test.text, "^")); got != test.want {
			t.Errorf("Path(%s) = %q; want %q", test.text, got, test.want)
		}
	}
}
