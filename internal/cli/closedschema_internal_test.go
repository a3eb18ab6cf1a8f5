package cli

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/toolrun/toolrun/host/declare"
)

func TestUndeclared(t *testing.T) {
	const closed = `{"type": "object", "properties": {
		"count": {"type": "integer"},
		"page": {"type": "object", "properties": {"title": true, "tags": {"items": {}}}},
		"free": {"type": "object"}, "any": true}, "required": ["count"]}`
	tests := []struct {
		name, schema, path string
		field              string
		known              []string
	}{
		{"declared", closed, "page.title", "", nil},
		{"not declared", closed, "cuont", "cuont", []string{"any", "count", "free", "page"}},
		{"not declared deeper down", closed, "page.titel", "page.titel", []string{"tags", "title"}},
		{"what is inside of it", closed, "pages.title", "pages", []string{"any", "count", "free", "page"}},
		{"the whole content", closed, "", "", nil},
		{"an open object", closed, "free.x", "", nil},
		{"anything", closed, "any.x", "", nil},
		{"in an array", closed, "page.tags.x", "", nil},
		{"no schema", ``, "x", "", nil},
		{"no properties", `{"type": "object"}`, "x", "", nil},
		{"the schema true", `true`, "x", "", nil},
		{"closed by itself", `{"properties": {"a": true}, "additionalProperties": false}`, "x", "x", []string{"a"}},
		{"open by itself", `{"properties": {"a": true}, "additionalProperties": true}`, "x", "", nil},
		{"others of a kind", `{"properties": {"a": true}, "additionalProperties": {"type": "string"}}`, "x", "", nil},
		{"patterns", `{"properties": {"a": true}, "patternProperties": {"^x": true}}`, "x", "", nil},
		{"more schemas", `{"properties": {"a": true}, "allOf": [{"properties": {"x": true}}]}`, "x", "", nil},
		{"a reference", `{"properties": {"a": true}, "$ref": "#/$defs/b", "$defs": {"b": {"properties": {"x": true}}}}`, "x", "", nil},
		{"a condition", `{"properties": {"a": true}, "if": true, "then": {"properties": {"x": true}}}`, "x", "", nil},
	}
	for _, tt := range tests {
		store := declare.Store{Strict: true, Schema: json.RawMessage(tt.schema)}
		if field, known := undeclared(store, tt.path); field != tt.field || !slices.Equal(known, tt.known) {
			t.Errorf("%s: undeclared(%s) = %q, %v; want %q, %v", tt.name, tt.path, field, known, tt.field, tt.known)
		}
		store.Strict = false
		if field, _ := undeclared(store, tt.path); field != "" {
			t.Errorf("%s: undeclared(%s) of a store that is not strict = %q; want none", tt.name, tt.path, field)
		}
	}
}
