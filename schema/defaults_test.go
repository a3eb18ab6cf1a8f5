package schema_test

import (
	"strings"
	"testing"

	"github.com/toolrun/toolrun/schema"
)

func TestDefaults(t *testing.T) {
	tests := []struct{ name, schema, doc, want string }{
		{"seed", userSchema, `{"userId": "u1"}`, `{"preferences":{},"userId":"u1"}`},
		{"existing values stay", userSchema, `{"preferences": {"a": 1}}`, `{"preferences":{"a":1}}`},
		{"an existing null", `{"properties": {"a": {"default": 1}}}`, `{"a": null}`, `{"a":null}`},
		{"a null default", `{"properties": {"a": {"default": null}}}`, `{}`, `{"a":null}`},
		{"nested", `{"properties": {"a": {"default": {}, "properties": {"b": {"default": [1]}}}}}`, `{}`, `{"a":{"b":[1]}}`},
		{"in an existing object", `{"properties": {"a": {"properties": {"b": {"default": 1}}}}}`, `{"a": {}}`, `{"a":{"b":1}}`},
		{"no object is created for them", `{"properties": {"a": {"properties": {"b": {"default": 1}}}}}`, `{}`, `{}`},
		{"$ref", `{"properties": {"a": {"$ref": "#/$defs/d"}}, "$defs": {"d": {"default": 7}}}`, `{}`, `{"a":7}`},
		{"its own before that of $ref", `{"properties": {"a": {"$ref": "#/$defs/d", "default": 8}}, "$defs": {"d": {"default": 7}}}`, `{}`, `{"a":8}`},
		{"only $ref in draft 7", `{"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"a": {"$ref": "#/definitions/d", "default": 8}}, "definitions": {"d": {"default": 7}}}`, `{}`, `{"a":7}`},
		{"allOf", `{"allOf": [{"properties": {"a": {"default": 1}}}, {"properties": {"b": {"allOf": [{"default": 2}]}}}]}`, `{}`, `{"a":1,"b":2}`},
		{"not where a choice decides", `{"anyOf": [{"properties": {"a": {"default": 1}}}], "if": true, "then": {"properties": {"b": {"default": 1}}}}`, `{}`, `{}`},
		{"not in arrays", `{"properties": {"l": {"items": {"properties": {"a": {"default": 1}}}}}}`, `{"l": [{}]}`, `{"l":[{}]}`},
		{"recursion", `{"properties": {"n": {"default": 0}, "next": {"$ref": "#"}}}`, `{"next": {"next": {}}}`, `{"n":0,"next":{"n":0,"next":{"n":0}}}`},
		{"a default that fits once it is filled", `{"properties": {"a": {"default": {}, "required": ["b"], "properties": {"b": {"default": 1}}}}}`, `{}`, `{"a":{"b":1}}`},
		{"no object", userSchema, `[1]`, `[1]`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := compile(t, test.schema, schema.Options{Strict: true})
			for range 2 { // a document must not share memory with the schema
				got := s.Defaults(decode(t, test.doc))
				if text := string(encode(t, got)); text != test.want {
					t.Fatalf("Defaults(%s) = %s; want %s", test.doc, text, test.want)
				}
				spoil(got)
			}
		})
	}
}

// spoil modifies every object and array of a document.
func spoil(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, member := range v {
			spoil(member)
		}
		v["spoilt"] = true
	case []any:
		for i, element := range v {
			spoil(element)
			v[i] = "spoilt"
		}
	}
}

func TestDefaultsAreBounded(t *testing.T) {
	list := "[" + strings.TrimSuffix(strings.Repeat("0,", 4000), ",") + "]"
	s := compile(t, `{"properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}, "list": {"default": `+list+`}}}`, schema.Options{})
	doc := `{"left": {"left": {}, "right": {}}, "right": {"left": {}, "right": {}}}`
	if got := strings.Count(string(encode(t, s.Defaults(decode(t, doc)))), "list"); got != 2 {
		t.Errorf("Defaults adds %d lists of 4,000 values; want the 2 that fit in 10,000", got)
	}
}
