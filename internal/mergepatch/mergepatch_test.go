package mergepatch_test

import (
	"reflect"
	"testing"

	"github.com/toolrun/toolrun/internal/mergepatch"
	"github.com/toolrun/toolrun/internal/strictjson"
)

func decode(t testing.TB, text string) any {
	t.Helper()
	value, err := strictjson.Decode([]byte(text), strictjson.Limits{})
	if err != nil {
		t.Fatalf("Decode(%s): %v", text, err)
	}
	return value
}

func encode(t testing.TB, value any) string {
	t.Helper()
	text, err := strictjson.Encode(value)
	if err != nil {
		t.Fatalf("Encode: %v", err)
	}
	return string(text)
}

// The first cases are from RFC 7396, appendix A.
func TestApply(t *testing.T) {
	tests := []struct{ target, patch, want string }{
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b"}`, `{"a":null}`, `{}`},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
		{`["a","b"]`, `["c","d"]`, `["c","d"]`},
		{`{"a":"b"}`, `["c"]`, `["c"]`},
		{`{"a":"foo"}`, `null`, `null`},
		{`{"a":"foo"}`, `"bar"`, `"bar"`},
		{`{"e":null}`, `{"a":1}`, `{"a":1,"e":null}`},
		{`[1,2]`, `{"a":"b","c":null}`, `{"a":"b"}`},
		{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
		{`{"n":1.0}`, `{"m":1e2}`, `{"m":1e2,"n":1.0}`},
		{`{"__proto__":{"x":1}}`, `{"__proto__":{"y":2}}`, `{"__proto__":{"x":1,"y":2}}`},
	}
	for _, tt := range tests {
		if got := encode(t, mergepatch.Apply(decode(t, tt.target), decode(t, tt.patch))); got != tt.want {
			t.Errorf("Apply(%s, %s) = %s; want %s", tt.target, tt.patch, got, tt.want)
		}
	}
}

func FuzzApply(f *testing.F) {
	f.Add(`{"a":{"b":1}}`, `{"a":{"b":null,"c":[1]}}`)
	f.Add(`[]`, `{"":null}`)
	f.Add(`{"a":1}`, `"x"`)
	f.Fuzz(func(t *testing.T, targetText, patchText string) {
		target, err := strictjson.Decode([]byte(targetText), strictjson.Limits{Depth: 50})
		if err != nil {
			return
		}
		patch, err := strictjson.Decode([]byte(patchText), strictjson.Limits{Depth: 50})
		if err != nil {
			return
		}
		before, beforePatch := encode(t, target), encode(t, patch)
		merged := mergepatch.Apply(target, patch)
		if encode(t, target) != before || encode(t, patch) != beforePatch {
			t.Fatalf("Apply(%s, %s) changed its arguments", targetText, patchText)
		}
		if again := mergepatch.Apply(merged, patch); !reflect.DeepEqual(again, merged) {
			t.Fatalf("applying %s twice differs: %s, then %s", patchText, encode(t, merged), encode(t, again))
		}
	})
}
