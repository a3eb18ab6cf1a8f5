package schema_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/schema"
)

// chain returns a schema with the definitions a0, a1 and so on. Each of the first n definitions is
// the text in the argument "step", with @ replaced by a reference to the next definition.
func chain(n int, step string) string {
	definitions := make([]string, 0, n+1)
	for i := range n {
		definitions = append(definitions, fmt.Sprintf(`"a%d": %s`, i, strings.ReplaceAll(step, "@", fmt.Sprintf(`{"$ref": "#/$defs/a%d"}`, i+1))))
	}
	definitions = append(definitions, fmt.Sprintf(`"a%d": {}`, n))
	return `{"$ref": "#/$defs/a0", "$defs": {` + strings.Join(definitions, ", ") + `}}`
}

func nested(n int) string {
	if n == 0 {
		return `{}`
	}
	inner := nested(n - 1)
	return `{"allOf": [` + inner + `, ` + inner + `]}`
}

func TestCompileRefusesUnboundedSchemas(t *testing.T) {
	tests := []struct{ name, schema, want string }{
		{"recursion that doubles", `{"allOf":[{"items":{"$ref":"#"}},{"items":{"$ref":"#"}}]}`, "too expensive"},
		{"through properties", `{"properties": {"a": {"$ref": "#"}}, "patternProperties": {"^a": {"$ref": "#"}}}`, "too expensive"},
		{"through anyOf", `{"anyOf": [{"additionalProperties": {"$ref": "#"}}, {"properties": {"a": {"$ref": "#"}}}]}`, "too expensive"},
		{"through a test", `{"if": {"items": {"$ref": "#"}}, "then": {"items": {"$ref": "#"}}}`, "too expensive"},
		{"through contains", `{"items": {"$ref": "#"}, "contains": {"$ref": "#"}}`, "too expensive"},
		{"through unevaluated", `{"allOf": [{"unevaluatedProperties": {"$ref": "#"}}], "unevaluatedProperties": {"$ref": "#"}}`, "too expensive"},
		{"through $dynamicRef", `{"$dynamicAnchor": "n", "allOf": [{"items": {"$dynamicRef": "#n"}}, {"items": {"$dynamicRef": "#n"}}]}`, "too expensive"},
		{"through $recursiveRef", `{"$schema": "https://json-schema.org/draft/2019-09/schema", "$recursiveAnchor": true, "allOf": [{"items": {"$recursiveRef": "#"}}, {"items": {"$recursiveRef": "#"}}]}`, "too expensive"},
		{"in draft 4", `{"$schema": "http://json-schema.org/draft-04/schema#", "allOf":[{"items":{"$ref":"#"}},{"items":{"$ref":"#"}}]}`, "too expensive"},
		{"two steps later", `{"allOf": [{"items": {"items": {"$ref": "#"}}}, {"items": {"items": {"$ref": "#"}}}]}`, "too expensive"},
		{"allOf that doubles", chain(30, `{"allOf": [@, @]}`), "too expensive"},
		{"allOf that doubles by its text", nested(12), "has more than 4096 subschemas"},
		{"properties that double", chain(30, `{"allOf": [{"properties": {"x": @}}, {"properties": {"x": @}}]}`), "too expensive"},
		{"a long way", chain(1000, `{"allOf": [@]}`), "nested more than 256 levels"},
		{"forever at one value", `{"properties": {"a": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"anyOf": [{"$ref": "#/$defs/x"}, true]}}}`, "infinitely"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := schema.Compile([]byte(test.schema), schema.Options{})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("Compile = %v; want %q in it", err, test.want)
			}
		})
	}
}

func TestCompileTakesUnionsThatAreToldApart(t *testing.T) {
	branch := func(kind, more string) string {
		return `{"properties": {"kind": ` + kind + `, "left": {"$ref": "#"}, "right": {"$ref": "#"}}` + more + `}`
	}
	tests := []struct {
		name, first, second, more string
		taken                     bool
	}{
		{"const", `{"const": "add"}`, `{"const": "mul"}`, `, "required": ["kind"]`, true},
		{"enum", `{"enum": ["add", "sub"]}`, `{"enum": ["mul", "div"]}`, `, "required": ["kind"]`, true},
		{"not required", `{"const": "add"}`, `{"const": "mul"}`, ``, false},
		{"a value in common", `{"enum": ["add", "mul"]}`, `{"enum": ["mul", "div"]}`, `, "required": ["kind"]`, false},
	}
	for _, test := range tests {
		for _, keyword := range []string{"anyOf", "oneOf"} {
			text := `{"type": "object", "` + keyword + `": [` + branch(test.first, test.more) + `, ` + branch(test.second, test.more) + `]}`
			_, err := schema.Compile([]byte(text), schema.Options{})
			if (err == nil) != test.taken {
				t.Errorf("%s by %s: Compile = %v; want it accepted: %v", test.name, keyword, err, test.taken)
			}
		}
	}
}

func TestCompileManyChoices(t *testing.T) {
	union := func(n int) string {
		branches := make([]string, n)
		for i := range branches {
			branches[i] = fmt.Sprintf(`{"required": ["k"], "properties": {"k": {"const": %d}, "p%d": {"$ref": "#"}}}`, i, i)
		}
		return `{"oneOf": [` + strings.Join(branches, ",") + `]}`
	}
	one, three := union(200), `{"allOf": [`+union(400)+`,`+union(300)+`,`+union(300)+`]}`
	compile(t, one, schema.Options{})
	if _, err := schema.Compile([]byte(three), schema.Options{}); err == nil {
		t.Error("Compile = nil for a schema that refers to itself three times for the same value; want an error")
	}
}

// TestWorkIsBounded checks that Validate stops on documents that are expensive for accepted
// schemas.
func TestWorkIsBounded(t *testing.T) {
	list := func(element string, n int) string {
		return `[` + strings.TrimSuffix(strings.Repeat(element+",", n), ",") + `]`
	}
	tests := []struct{ name, schema, doc string }{
		{"many schemas", `{"items": {"anyOf": ` + list(`{"type": "string"}`, 1000) + `}}`, list(`1`, 20_000)},
		{"equal arrays", `{"allOf": ` + list(`{"uniqueItems": true}`, 2000) + `}`, `[` + list(`[1]`, 1) + `,` + list(`"x"`, 1) + strings.Repeat(`,[2,"`+strings.Repeat("y", 100)+`"]`, 1) + `]`},
		{"enum of a large value", `{"anyOf": ` + list(`{"enum": [[]]}`, 2000) + `}`, list(`"abcdefgh"`, 20_000)},
		{"expressions", `{"items": {"anyOf": ` + list(`{"pattern": "^(a?){30}b$"}`, 100) + `}}`, list(`"`+strings.Repeat("a", 100)+`"`, 2000)},
		{"required names", `{"items": {"not": {"required": ` + names(2000) + `}}}`, list(`{}`, 20_000)},
		{"claims of strict", `{"allOf": ` + list(`{"items": {"properties": {"a": true}}}`, 500) + `}`, list(`{"a":1}`, 10)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := compile(t, test.schema, schema.Options{Strict: true, Limits: schema.Limits{Work: 50_000}})
			got := s.Validate(decode(t, test.doc))
			if len(got) != 1 || got[0].Keyword != schema.MaxWork || string(got[0].Limit) != "50000" {
				t.Errorf("Validate = %.200s; want only %s", terse(got), schema.MaxWork)
			}
		})
	}
}

func names(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(`"n%d"`, i)
	}
	return `[` + strings.Join(all, ",") + `]`
}

func TestValidateRefusesMonsters(t *testing.T) {
	s := compile(t, `{"type": ["number", "array", "object"]}`, schema.Options{})
	deep := any(map[string]any{})
	for range 200_000 {
		deep = []any{deep}
	}
	tests := []struct {
		name string
		doc  any
		want abi.Violation
	}{
		{"exponent", json.Number("1e9999999"), abi.Violation{Keyword: schema.MaxNumber}},
		{"small exponent", json.Number("1e-999999"), abi.Violation{Keyword: schema.MaxNumber}},
		{"digits", []any{json.Number(strings.Repeat("9", 41))}, abi.Violation{Pointer: "/0", Keyword: schema.MaxNumber}},
		{"no number", json.Number("NaN"), abi.Violation{Keyword: schema.MaxNumber}},
		{"depth", deep, abi.Violation{Pointer: strings.Repeat("/0", 65), Keyword: schema.MaxDepth, Limit: json.RawMessage("64")}},
		{"a Go value", map[string]any{"a": 1}, abi.Violation{Pointer: "/a", Keyword: schema.JSONValue}},
	}
	for _, test := range tests {
		got := s.Validate(test.doc)
		if len(got) != 1 || got[0].String() != test.want.String() {
			t.Errorf("%s: Validate = %.200s; want %s", test.name, terse(got), test.want)
		}
	}
	if got := s.Validate(json.Number("1e308")); got != nil {
		t.Errorf("Validate(1e308) = %s", terse(got))
	}
}
