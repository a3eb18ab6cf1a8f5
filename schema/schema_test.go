package schema_test

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/internal/strictjson"
	"github.com/toolrun/toolrun/schema"
)

// The schemas below are from the vendor's documentation of memory stores.
const (
	prefsSchema = `{"type": "object", "properties": {
		"preferences": {"type": "object", "properties": {
			"language": {"type": "string"},
			"notifications": {"type": "boolean"}}},
		"recentOrders": {"type": "array", "items": {"type": "string"}},
		"lastVisit": {"type": "string", "format": "date-time"}}}`
	userSchema = `{"type": "object", "required": ["userId"], "properties": {
		"userId": {"type": "string"},
		"preferences": {"type": "object", "default": {}}}}`
)

func compile(t testing.TB, text string, opts schema.Options) *schema.Schema {
	t.Helper()
	s, err := schema.Compile([]byte(text), opts)
	if err != nil {
		t.Fatalf("Compile(%s): %v", text, err)
	}
	return s
}

func decode(t testing.TB, text string) any {
	t.Helper()
	doc, err := strictjson.Decode([]byte(text), strictjson.Limits{})
	if err != nil {
		t.Fatalf("Decode(%s): %v", text, err)
	}
	return doc
}

// terse formats violations like "/age: type: \"integer\"". Package abi tests the texts of
// violations.
func terse(violations []abi.Violation) string {
	texts := make([]string, len(violations))
	for i, v := range violations {
		texts[i] = cmp.Or(v.Pointer, "/") + ": " + v.Keyword
		if len(v.Limit) > 0 {
			texts[i] += ": " + string(v.Limit)
		}
	}
	return strings.Join(texts, "; ")
}

func TestValidate(t *testing.T) {
	tests := []struct{ name, schema, doc, want string }{
		{"fits", prefsSchema, `{"preferences": {"language": "en"}, "recentOrders": ["o1"]}`, ""},
		{"extra names without strict", prefsSchema, `{"preferences": {"x": 1}, "y": 2}`, ""},
		{"every position", prefsSchema, `{"preferences": {"language": 1, "notifications": "no"}, "recentOrders": ["a", 2, 3]}`,
			`/preferences/language: type: "string"; /preferences/notifications: type: "boolean"; /recentOrders/1: type: "string"; /recentOrders/2: type: "string"`},
		{"root", prefsSchema, `[]`, `/: type: "object"`},
		{"missing", userSchema, `{}`, `/userId: required: ["userId"]`},
		{"names are escaped", `{"additionalProperties": {"type": "string"}}`, `{"a/b~c": 1}`, `/a~1b~0c: type: "string"`},
		{"false", `false`, `1`, `/: schema: false`},
		{"property false", `{"properties": {"a": false}}`, `{"a": 1}`, `/a: properties: false`},
		{"additional", `{"properties": {"a": true}, "additionalProperties": false}`, `{"a": 1, "b": 2}`, `/b: additionalProperties: false`},
		{"unevaluated", `{"allOf": [{"properties": {"a": true}}], "unevaluatedProperties": false}`, `{"a": 1, "b": 2}`, `/b: unevaluatedProperties: false`},
		{"a failing part still evaluates", `{"allOf": [{"properties": {"a": {"type": "string"}}}], "unevaluatedProperties": false}`, `{"a": 1}`, `/a: type: "string"`},
		{"enum", `{"enum": ["a", {"b": 1}]}`, `{"b": 1.0}`, ``},
		{"enum differs", `{"enum": ["a", {"b": 1}]}`, `{"b": 2}`, `/: enum: ["a",{"b":1}]`},
		{"empty enum", `{"enum": []}`, `1`, `/: enum: []`},
		{"const", `{"const": 1e2}`, `100`, ``},
		{"whole", `{"type": "integer"}`, `1.0`, ``},
		{"numbers are exact", `{"maximum": 9007199254740992}`, `9007199254740993`, `/: maximum: 9007199254740992`},
		{"multipleOf", `{"multipleOf": 0.1}`, `0.3`, ``},
		{"draft 4 exclusive", `{"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 3, "exclusiveMinimum": true}`, `3`, `/: exclusiveMinimum: true`},
		{"unique", `{"uniqueItems": true}`, `[{"a": 1, "b": 2}, {"b": 2.0, "a": 1}]`, `/: uniqueItems: true`},
		{"contains", `{"contains": {"const": 1}}`, `[2, 3]`, `/: contains: {"const":1}`},
		{"minContains", `{"contains": {"const": 1}, "minContains": 2}`, `[1, 3]`, `/: minContains: 2`},
		{"dependencies", `{"dependentRequired": {"a": ["b"]}}`, `{"a": 1}`, `/b: dependentRequired: {"a":["b"]}`},
		{"not", `{"not": {"type": "string"}}`, `"x"`, `/: not: {"type":"string"}`},
		{"then", `{"if": {"type": "string"}, "then": {"minLength": 2}, "else": {"type": "null"}}`, `"x"`, `/: minLength: 2`},
		{"length in characters", `{"maxLength": 2}`, `"äöü"`, `/: maxLength: 2`},
		{"the nearest branch explains the failure",
			`{"anyOf": [{"type": "string"}, {"type": "object", "required": ["a", "b"]}]}`, `{"a": 1}`,
			`/: anyOf: [{"type":"string"},{"required":["a","b"],"type":"object"}]; /b: required: ["a","b"]`},
		{"oneOf twice", `{"oneOf": [{"minimum": 1}, {"minimum": 2}]}`, `3`, `/: oneOf: [{"minimum":1},{"minimum":2}]`},
		{"once", `{"allOf": [{"type": "string"}, {"type": "string"}]}`, `1`, `/: type: "string"`},
		{"a limit beyond int", `{"maxItems": 1e300}`, `[1]`, ``},
		{"long limits are omitted", `{"enum": ["` + strings.Repeat("x", 200) + `"]}`, `1`, `/: enum`},
		{"$schema sets the draft", `{"$schema": "http://json-schema.org/draft-07/schema", "$ref": "#/definitions/s", "type": "null", "definitions": {"s": {"type": "string"}}}`, `"x"`, ``},
		{"$ref has siblings", `{"$ref": "#/definitions/s", "maxLength": 0, "definitions": {"s": {"type": "string"}}}`, `"x"`, `/: maxLength: 0`},
		{"a schema under an unknown keyword", `{"$ref": "#/components/schemas/a%20b", "components": {"schemas": {"a b": {"type": "string"}}}}`, `1`, `/: type: "string"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := compile(t, test.schema, schema.Options{})
			if got := terse(s.Validate(decode(t, test.doc))); got != test.want {
				t.Errorf("Validate(%s) = %s\nwant %s", test.doc, got, test.want)
			}
		})
	}
}

func TestValidateUnion(t *testing.T) {
	s := compile(t, `{"oneOf": [{"$ref": "#/$defs/sum"}, {"$ref": "#/$defs/leaf"}], "$defs": {
		"sum": {"required": ["kind"], "properties": {"kind": {"const": "sum"}, "of": {"items": {"$ref": "#"}}}},
		"leaf": {"required": ["kind", "value"], "properties": {"kind": {"const": "leaf"}, "value": {"type": "number"}}}}}`,
		schema.Options{Strict: true})
	const union = `oneOf: [{"$ref":"#/$defs/sum"},{"$ref":"#/$defs/leaf"}]`
	tests := []struct{ doc, want string }{
		{`{"kind": "sum", "of": [{"kind": "leaf", "value": 1}, {"kind": "sum"}]}`, ``},
		{`{"kind": "sum", "value": 1}`, `/value: additionalProperties: false`},
		{`{"kind": "sum", "of": [{"kind": "leaf"}]}`, `/: ` + union + `; /of/0: ` + union + `; /of/0/value: required: ["kind","value"]`},
		{`{"kind": "product"}`, `/: ` + union + `; /kind: const: "sum"`},
		{`{}`, `/: ` + union + `; /kind: required: ["kind"]`},
		{`7`, `/: ` + union},
	}
	for _, test := range tests {
		if got := terse(s.Validate(decode(t, test.doc))); got != test.want {
			t.Errorf("Validate(%s) = %s\nwant %s", test.doc, got, test.want)
		}
	}
}

func TestValidateTellsNoValue(t *testing.T) {
	s := compile(t, `{"properties": {
		"type": {"type": "null"}, "enum": {"enum": [1]}, "const": {"const": 1}, "pattern": {"pattern": "^$"},
		"format": {"format": "date-time"}, "length": {"maxLength": 1}, "any": {"anyOf": [{"const": 1}]},
		"names": {"propertyNames": {"maxLength": 3}}, "number": {"maximum": 1}}}`, schema.Options{Strict: true})
	doc := map[string]any{"names": map[string]any{"long": "secret"}, "number": json.Number("4711")}
	for _, name := range []string{"type", "enum", "const", "pattern", "format", "length", "any"} {
		doc[name] = "secret"
	}
	text, err := json.Marshal(s.Validate(doc))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(text), "pointer") < len(doc) {
		t.Errorf("Validate returns %s; want a violation in each member", text)
	}
	if strings.Contains(string(text), "secret") || strings.Contains(string(text), "4711") {
		t.Errorf("Validate returns a value of the document: %s", text)
	}
}

func TestViolationsAreBoundedAndInOrder(t *testing.T) {
	s := compile(t, `{"items": {"type": "string"}}`, schema.Options{Limits: schema.Limits{Violations: 7}})
	first := s.Validate(decode(t, `[`+strings.Repeat("1,", 500)+`1]`))
	if len(first) != 7 {
		t.Fatalf("%d violations; want 7", len(first))
	}
	if !slices.IsSortedFunc(first, func(a, b abi.Violation) int { return strings.Compare(a.Pointer, b.Pointer) }) {
		t.Errorf("the violations are not in order: %s", terse(first))
	}
	s = compile(t, `{"additionalProperties": {"anyOf": [{"type": "null"}, {"required": ["x"]}]}}`, schema.Options{})
	doc := decode(t, `{"d": 1, "b": {}, "a": {}, "c": 1, "e": {"y": 1}}`)
	want := terse(s.Validate(doc))
	for range 50 {
		if got := terse(s.Validate(doc)); got != want {
			t.Fatalf("Validate = %s, and then %s", want, got)
		}
	}
}

func TestFormats(t *testing.T) {
	tests := []struct {
		format, value string
		want          bool
	}{
		{"date-time", "2026-04-30T16:20:00Z", true},
		{"date-time", "2026-04-30T16:20:00.123+02:00", true},
		{"date-time", "2026-04-30T16:20:00", true},        // Python's isoformat without microseconds
		{"date-time", "2026-04-30T16:20:00.123456", true}, // and with
		{"date-time", "2026-04-30", false},
		{"date-time", "2026-04-30T16:20", false},
		{"date-time", "2026-04-30T16:20:00ZZ", false},
		{"date-time", "2026-13-30T16:20:00", false},
		{"date", "2026-04-30", true},
		{"email", "nobody", false},
		{"uuid", "123e4567-e89b-12d3-a456-426614174000", true},
		{"regex", "^a{2}$", true},
		{"regex", "(?=a)", false},
		{"duration", "P1D", true},
		{"duration", "P" + strings.Repeat("1", 300) + "D", false},
		{"duration", "P" + strings.Repeat("1Y", 1000), false},
		{"hostname", "", false},
		{"no-such-format", "anything", true},
	}
	for _, draft := range []string{"", `"$schema": "https://json-schema.org/draft/2020-12/schema",`, `"$schema": "http://json-schema.org/draft-07/schema#",`} {
		for _, test := range tests {
			s := compile(t, `{`+draft+`"format": "`+test.format+`"}`, schema.Options{})
			if got := len(s.Validate(test.value)) == 0; got != test.want {
				t.Errorf("%s with %s accepts %.40q: %v; want %v", test.format, draft, test.value, got, test.want)
			}
		}
	}
}

func TestSummary(t *testing.T) {
	s := compile(t, `{"items": {"type": "string"}}`, schema.Options{})
	if got, want := schema.Summary(s.Validate(decode(t, `[1]`))), `/0: must be of type "string"`; got != want {
		t.Errorf("Summary = %s; want %s", got, want)
	}
	got := schema.Summary(s.Validate(decode(t, `[1,2,3,4,5]`)))
	if want := `/0: must be of type "string"; /1: must be of type "string"; /2: must be of type "string"; and 2 more`; got != want {
		t.Errorf("Summary = %s; want %s", got, want)
	}
}
