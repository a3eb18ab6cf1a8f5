package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/schema"
)

func TestStrict(t *testing.T) {
	const (
		draft7   = `"$schema": "http://json-schema.org/draft-07/schema#", `
		draft4   = `"$schema": "http://json-schema.org/draft-04/schema#", `
		extraB   = "/b: additionalProperties: false"
		extraC   = "/c: additionalProperties: false"
		nothing  = ""
		treeOpen = `{"properties": {"name": true, "kids": {"items": {"$ref": "#"}}}}`
	)
	tests := []struct{ name, schema, doc, want string }{
		{"seed", prefsSchema, `{"preferences": {"language": "en", "theme": "dark"}, "notes": 1}`,
			"/notes: additionalProperties: false; /preferences/theme: additionalProperties: false"},
		{"an object without properties stays open", userSchema, `{"userId": "u", "preferences": {"any": 1}}`, nothing},
		{"empty properties close", `{"properties": {}}`, `{"b": 1}`, extraB},
		{"not an object", `{"properties": {"a": true}}`, `[1]`, nothing},
		{"additionalProperties true", `{"properties": {"a": true}, "additionalProperties": true}`, `{"b": 1}`, nothing},
		{"additionalProperties schema", `{"properties": {"a": true}, "additionalProperties": {"properties": {"x": true}}}`, `{"b": {"x": 1}, "c": {"y": 1}}`,
			"/c/y: additionalProperties: false"},
		{"unevaluatedProperties true", `{"properties": {"a": true}, "unevaluatedProperties": true}`, `{"b": 1}`, nothing},
		{"patternProperties", `{"properties": {"a": true}, "patternProperties": {"^x-": true}}`, `{"x-1": 1, "b": 1}`, extraB},
		{"only patternProperties", `{"patternProperties": {"^x-": true}}`, `{"b": 1}`, nothing},
		{"allOf is a union", `{"allOf": [{"properties": {"a": true}}, {"properties": {"b": true}}]}`, `{"a": 1, "b": 1, "c": 1}`, extraC},
		{"allOf is a union deeper down",
			`{"allOf": [{"properties": {"o": {"properties": {"a": true}}}}, {"properties": {"o": {"properties": {"b": true}}}}]}`,
			`{"o": {"a": 1, "b": 1, "c": 1}}`, "/o/c: additionalProperties: false"},
		{"allOf with an open branch", `{"properties": {"a": true}, "allOf": [{"additionalProperties": true}]}`, `{"b": 1}`, nothing},
		{"$ref next to properties", `{"$ref": "#/$defs/base", "properties": {"a": true}, "$defs": {"base": {"properties": {"b": true}}}}`, `{"a": 1, "b": 1, "c": 1}`, extraC},
		{"$ref ignores its siblings in draft 7", `{` + draft7 + `"$ref": "#/definitions/base", "properties": {"a": true}, "definitions": {"base": {"properties": {"b": true}}}}`, `{"a": 1, "b": 1}`,
			"/a: additionalProperties: false"},
		{"allOf in draft 4", `{` + draft4 + `"allOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]}`, `{"a": 1, "b": 1, "c": 1}`, extraC},
		{"the branch that fits declares",
			`{"oneOf": [{"properties": {"kind": {"const": "x"}, "a": true}}, {"properties": {"kind": {"const": "y"}, "b": true}}]}`,
			`{"kind": "x", "b": 1}`, extraB},
		{"closing chooses no branch", `{"oneOf": [{"properties": {"a": true}}, {"properties": {"b": true}}]}`, `{"a": 1}`,
			`/: oneOf: [{"properties":{"a":true}},{"properties":{"b":true}}]`},
		{"every anyOf branch that fits", `{"anyOf": [{"properties": {"a": true}}, {"properties": {"b": true}}]}`, `{"a": 1, "b": 1, "c": 1}`, extraC},
		{"not declares nothing", `{"properties": {"a": true}, "not": {"properties": {"b": {"type": "string"}}, "required": ["b"]}}`, `{"a": 1, "b": 1}`, extraB},
		{"not closes nothing", `{"not": {"properties": {"a": true}, "required": ["a"]}}`, `{"b": 1}`, nothing},
		{"if closes nothing", `{"if": {"properties": {"a": {"const": 1}}}, "then": {"required": ["a"]}}`, `{"a": 1, "b": 1}`, nothing},
		{"if evaluates its names", `{"if": {"properties": {"a": {"const": 1}}}, "then": {"properties": {"b": true}}}`, `{"a": 1, "b": 1, "c": 1}`, extraC},
		{"else", `{"if": {"required": ["a"]}, "then": {"properties": {"a": true}}, "else": {"properties": {"b": true}}}`, `{"b": 1, "c": 1}`, extraC},
		{"contains closes nothing", `{"contains": {"properties": {"id": {"const": 1}}, "required": ["id"]}}`, `[{"id": 1, "b": 1}]`, nothing},
		{"items", `{"items": {"properties": {"a": true}}}`, `[{"a": 1}, {"b": 1}]`, "/1/b: additionalProperties: false"},
		{"prefixItems", `{"prefixItems": [{"properties": {"a": true}}]}`, `[{"b": 1}, {"b": 1}]`, "/0/b: additionalProperties: false"},
		{"additionalItems", `{` + draft7 + `"items": [true], "additionalItems": {"properties": {"a": true}}}`, `[{"b": 1}, {"b": 1}]`, "/1/b: additionalProperties: false"},
		{"dependentSchemas", `{"properties": {"a": true}, "dependentSchemas": {"a": {"properties": {"b": true}}}}`, `{"a": 1, "b": 1, "c": 1}`, extraC},
		{"dependentSchemas that do not apply", `{"properties": {"a": true}, "dependentSchemas": {"a": {"properties": {"b": true}}}}`, `{"b": 1}`, extraB},
		{"recursion", treeOpen, `{"kids": [{"name": 1, "kids": [{"nick": 1}]}]}`, "/kids/0/kids/0/nick: additionalProperties: false"},
		{"$dynamicRef", `{"$dynamicAnchor": "node", "properties": {"kids": {"items": {"$dynamicRef": "#node"}}}}`, `{"kids": [{"b": 1}]}`,
			"/kids/0/b: additionalProperties: false"},
		{"propertyNames", `{"properties": {"a": true}, "propertyNames": {"maxLength": 1}}`, `{"a": 1}`, nothing},
		{"no names are rejected if no branch fits", `{"anyOf": [{"properties": {"a": {"type": "string"}}}]}`, `{"a": 1}`,
			`/: anyOf: [{"properties":{"a":{"type":"string"}}}]; /a: type: "string"`},
		{"no names are rejected if no branch fits, next to properties", `{"properties": {"b": true}, "anyOf": [{"properties": {"a": {"type": "string"}}}]}`, `{"a": 1, "b": 1}`,
			`/: anyOf: [{"properties":{"a":{"type":"string"}}}]; /a: type: "string"`},
		{"contains evaluates its names", `{"items": {"properties": {"a": true}}, "contains": {"properties": {"b": true}, "required": ["b"]}}`, `[{"a": 1, "b": 1}, {"b": 1, "c": 1}, {"c": 1}]`,
			"/1/c: additionalProperties: false; /2/c: additionalProperties: false"},
		{"a declared name that does not fit is not undeclared", `{"allOf": [{"properties": {"a": {"type": "string"}}}]}`, `{"a": 1, "b": 1}`,
			`/a: type: "string"; /b: additionalProperties: false`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := compile(t, test.schema, schema.Options{Strict: true})
			if got := terse(s.Validate(decode(t, test.doc))); got != test.want {
				t.Errorf("Validate(%s) = %s\nwant %s", test.doc, got, test.want)
			}
		})
	}
}

// TestStrictManyNames checks an object with more names than marks can represent in one machine
// word.
func TestStrictManyNames(t *testing.T) {
	half := func(from int) string {
		members := make([]string, 100)
		for i := range members {
			members[i] = fmt.Sprintf(`"n%03d": true`, from+i)
		}
		return `{"properties": {` + strings.Join(members, ",") + `}}`
	}
	s := compile(t, `{"allOf": [`+half(0)+`,`+half(100)+`]}`, schema.Options{Strict: true})
	doc := map[string]any{}
	for i := range 200 {
		doc[fmt.Sprintf("n%03d", i)] = true
	}
	if got := s.Validate(doc); got != nil {
		t.Errorf("Validate = %s", terse(got))
	}
	doc["n150x"] = true
	if got, want := terse(s.Validate(doc)), "/n150x: additionalProperties: false"; got != want {
		t.Errorf("Validate = %s; want %s", got, want)
	}
}
