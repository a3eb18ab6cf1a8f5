package document

import (
	"encoding/json"
	"testing"

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

func TestProjection(t *testing.T) {
	const doc = `{"a":{"b":1,"c":2},"d":[{"e":1,"f":2},{"e":3}],"g":"x"}`
	tests := []struct{ name, doc, projection, want string }{
		{"everything", doc, `{}`, `{"a":{"b":1,"c":2},"d":[{"e":1,"f":2},{"e":3}],"g":"x"}`},
		{"include", doc, `{"g":1}`, `{"g":"x"}`},
		{"include true", doc, `{"g":true}`, `{"g":"x"}`},
		{"include by any number but zero", doc, `{"g":-0.5}`, `{"g":"x"}`},
		{"include nested", doc, `{"a.b":1}`, `{"a":{"b":1}}`},
		{"include nested form", doc, `{"a":{"b":1}}`, `{"a":{"b":1}}`},
		{"both forms together", doc, `{"a":{"b":1},"a.c":1}`, `{"a":{"b":1,"c":2}}`},
		{"through arrays", doc, `{"d.e":1}`, `{"d":[{"e":1},{"e":3}]}`},
		{"absent", doc, `{"z":1,"a.z":1}`, `{"a":{}}`},
		{"scalar where a path goes on", doc, `{"g.x":1}`, `{}`},
		{"exclude", doc, `{"a":0,"d":false}`, `{"g":"x"}`},
		{"exclude nested", doc, `{"a.b":0,"d.e":0}`, `{"a":{"c":2},"d":[{"f":2},{}],"g":"x"}`},
		{"inclusion wins", doc, `{"g":1,"a":0}`, `{"g":"x"}`},
		{"exclusion below an inclusion", doc, `{"a":1,"a.b":0}`, `{"a":{"c":2}}`},
		{"inclusion below an exclusion", doc, `{"a":0,"a.b":1}`, `{"a":{"b":1}}`},
		{"in, out, in", `{"a":{"b":{"c":1,"d":2},"e":3}}`, `{"a":1,"a.b":0,"a.b.c":1}`, `{"a":{"b":{"c":1},"e":3}}`},
		{"collision takes the union", doc, `{"a":1,"a.b":1}`, `{"a":{"b":1,"c":2}}`},
		{"MongoDB's array rule", `{"a":[1,{"b":2},{"c":3}]}`, `{"a.b":1}`, `{"a":[{"b":2},{}]}`},
		{"array at the root", `[{"a":1,"b":2},3]`, `{"a":1}`, `[{"a":1}]`},
		{"odd keys", `{"__proto__":1,"":2,"x":3}`, `{"__proto__":1}`, `{"__proto__":1}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := parseProjection(json.RawMessage(tt.projection))
			if err != nil {
				t.Fatalf("parseProjection(%s): %v", tt.projection, err)
			}
			got, ok := p.apply(decode(t, tt.doc))
			if !ok || encode(t, got) != tt.want {
				t.Errorf("%s of %s = %s, %t; want %s", tt.projection, tt.doc, encode(t, got), ok, tt.want)
			}
		})
	}
}

func TestBadProjection(t *testing.T) {
	for _, text := range []string{`1`, `"a"`, `["a"]`, `{"a":"x"}`, `{"a":null}`, `{"a":[]}`, `{"a":{}}`, `{"a..b":1}`, `{"":1}`, `{"a.":1}`, `{`} {
		if _, err := parseProjection(json.RawMessage(text)); err == nil {
			t.Errorf("parseProjection(%s) succeeded; want invalid_argument", text)
		}
	}
}

func FuzzProjection(f *testing.F) {
	f.Add(`{"a.b":1}`, `{"a":[{"b":1},2]}`)
	f.Add(`{"a":0,"b":{"c":true}}`, `{"a":1,"b":{"c":2,"d":3}}`)
	f.Add(`{"a":1,"a.b":0,"a.b.c":1}`, `{"a":{"b":{"c":1}}}`)
	f.Fuzz(func(t *testing.T, projection, doc string) {
		p, err := parseProjection(json.RawMessage(projection))
		if err != nil {
			return
		}
		content, err := strictjson.Decode([]byte(doc), strictjson.Limits{Depth: 40})
		if err != nil {
			return
		}
		before := encode(t, content)
		once, ok := p.apply(content)
		if encode(t, content) != before {
			t.Fatalf("%s changed the content %s", projection, doc)
		}
		if !ok {
			return
		}
		if twice, ok := p.apply(once); !ok || encode(t, twice) != encode(t, once) {
			t.Fatalf("%s applied twice to %s: %s, then %s", projection, doc, encode(t, once), encode(t, twice))
		}
	})
}
