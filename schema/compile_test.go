package schema_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/schema"
)

func TestCompileReportsMistakes(t *testing.T) {
	const draft4 = `"$schema": "http://json-schema.org/draft-04/schema#", `
	tests := []struct{ name, schema, want string }{
		{"no JSON", `{`, "the schema is not valid JSON: expected a member name in double quotes at byte 1"},
		{"no schema", `[]`, `the schema must be a value of type ["object","boolean"]`},
		{"unknown $schema", `{"$schema": "http://json-schema.org/draft-03/schema#"}`, "the value of `$schema` is the URL of an unsupported draft, at /$schema"},
		{"$schema of the wrong type", `{"$schema": 4}`, "the value of `$schema` is the URL of an unsupported draft, at /$schema"},
		{"type", `{"properties": {"a": {"type": "strin"}}}`, `"type" must be one of ["array","boolean","integer","null","number","object","string"], at /properties/a/type`},
		{"every mistake", `{"properties": {"a": {"required": true}, "b": {"minLength": "x"}, "c": {"pattern": "("}}}`, strings.Join([]string{
			`"required" must be a value of type "array", at /properties/a/required`,
			`"minLength" must be a value of type "integer", at /properties/b/minLength`,
			`the regular expression is not supported: missing closing ), at /properties/c/pattern`}, "\n")},
		{"lookahead", `{"patternProperties": {"(?=a)": true}}`, `the regular expression is not supported: it contains a lookahead, (?=...), at /patternProperties/(?=a)`},
		{"relative $ref", `{"properties": {"a": {"$ref": "other.json"}}}`, "the $ref refers to another document, at /properties/a/$ref"},
		{"file $ref", `{"items": {"$ref": "file:///etc/passwd"}}`, "the $ref refers to another document, at /items/$ref"},
		{"http $ref", `{"items": {"$ref": "http://localhost/x#/a"}}`, "the $ref refers to another document, at /items/$ref"},
		{"metaschema $ref", `{"$ref": "https://json-schema.org/draft/2020-12/schema"}`, "the $ref refers to another document, at /$ref"},
		{"$id moves a $ref out", `{"$id": "file:///etc/", "items": {"$ref": "passwd"}}`, "the $ref refers to another document, at /items/$ref"},
		{"$dynamicRef", `{"items": {"$dynamicRef": "x#node"}}`, "the $dynamicRef refers to another document, at /items/$dynamicRef"},
		{"two of them", `{"items": {"$ref": "a"}, "not": {"$ref": "b"}}`, "the $ref refers to another document, at /items/$ref\nthe $ref refers to another document, at /not/$ref"},
		{"$ref to nothing", `{"$ref": "#/$defs/x"}`, `the target of the $ref "#/$defs/x" does not exist in the document, at /$ref`},
		{"$ref to a value that is not a schema", `{"$ref": "#/title", "title": "x"}`, "the $ref refers to a value that is not a schema, at /$ref"},
		{"$ref is not a string", `{` + draft4 + `"$ref": 1}`, "the value of $ref must be a string, at /$ref"},
		{"unknown anchor", `{"$ref": "#x"}`, "cannot compile the schema: #x not found"},
		{"empty query", `{"$id": "?#"}`, "references cannot resolve to the URL in $id, at /$id"},
		{"empty query below", `{"items": {"$id": "a?", "$ref": "#"}}`, "references cannot resolve to the URL in $id, at /items/$id"},
		{"same names", `{"$defs": {"a": {"$id": "x"}, "b": {"$id": "x"}}}`, `another schema has the same $id, at /$defs/b/$id`},
		{"$ref to itself", `{"$ref": "#"}`, `the schema refers to itself infinitely for the same value`},
		{"default without end", `{"properties": {"a": {"$ref": "#", "default": {}}}}`, "the default, including the defaults of its properties, is infinite or too large, at /properties/a/default"},
		{"monstrous number", `{"maximum": 1e9999999}`, "the schema is not valid JSON: a number has an exponent above 308 at byte 12"},
		{"same name twice", `{"type": "object", "type": "string"}`, "the schema is not valid JSON: an object has the same member name twice at byte 19"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := schema.Compile([]byte(test.schema), schema.Options{})
			if err == nil || err.Error() != test.want {
				t.Fatalf("Compile(%s) = %v\nwant %s", test.schema, err, test.want)
			}
			if _, ok := errors.AsType[*schema.Error](err); !ok {
				t.Errorf("the error contains no *schema.Error: %#v", err)
			}
		})
	}
}

func TestCompileTakes(t *testing.T) {
	for _, text := range []string{
		`true`, `{}`, prefsSchema, userSchema,
		`{"$id": "http://example.com/a", "items": {"$ref": "b"}, "$defs": {"b": {"$id": "b", "type": "string"}}}`,
		`{"$ref": "#b", "$defs": {"b": {"$anchor": "b"}}}`,
		`{"properties": {"$ref": {"type": "string"}, "enum": {"$ref": "#/properties/$ref"}}}`,
		`{"default": {"$ref": "file:///x"}, "enum": [{"$ref": "file:///x"}]}`,
		`{"$schema": "https://json-schema.org/draft-07/schema", "$ref": "#/definitions/a", "definitions": {"a": {}}}`,
		`{"properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}, "list": {"items": {"$ref": "#"}}}}`,                                                                    // a tree
		`{"properties": {"next": {"anyOf": [{"type": "null"}, {"$ref": "#"}]}}}`,                                                                                               // a list
		`{"type": "object", "additionalProperties": {"anyOf": [{"$ref": "#"}, {"type": "array", "items": {"$ref": "#"}}]}}`,                                                    // one or many
		`{"anyOf": [{"type": ["string", "number", "boolean", "null"]}, {"type": "array", "items": {"$ref": "#"}}, {"type": "object", "additionalProperties": {"$ref": "#"}}]}`, // any JSON
		`{"oneOf": [{"properties": {"and": {"items": {"$ref": "#"}}}}, {"properties": {"or": {"items": {"$ref": "#"}}}}, {"properties": {"not": {"$ref": "#"}}}]}`,
		`{"patternProperties": {"^a": {"$ref": "#"}, "^b": {"type": "string"}}, "additionalProperties": {"$ref": "#"}}`,
	} {
		for _, strict := range []bool{false, true} {
			if _, err := schema.Compile([]byte(text), schema.Options{Strict: strict}); err != nil {
				t.Errorf("Compile(%s) = %v", text, err)
			}
		}
	}
}

func TestCompileRefusesLargeSchemas(t *testing.T) {
	many := func(format string, n int) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = strings.ReplaceAll(format, "#", fmt.Sprint(i))
		}
		return strings.Join(parts, ",")
	}
	tests := []struct{ name, schema, want string }{
		{"bytes", `{"title": "` + strings.Repeat("x", schema.DefaultSchemaBytes) + `"}`, "exceeds its size limit"},
		{"depth", strings.Repeat(`{"not":`, 200) + `{}` + strings.Repeat(`}`, 200), "nested"},
		{"schemas", `{"allOf": [` + many(`{"not": {}}`, 2100) + `]}`, "has more than 4096 subschemas"},
		{"names", `{"$defs": {` + many(`"d#": {"$anchor": "a#"}`, 600) + `}}`, "has more than 4096 subschemas, or more than 512 subschemas with"},
		{"unknown keywords", `{"x": {` + many(`"d#": {}`, 600) + `}, "allOf": [` + many(`{"$ref": "!/x/d#"}`, 600) + `]}`, "has more than 4096 subschemas, or more than 512 subschemas with"},
		{"nested unknown positions", `{"x": ` + strings.Repeat(`{"properties": {"a": `, 40) + `{"properties": {` + many(`"p#": {}`, 3000) + `}}` + strings.Repeat(`}}`, 40) +
			`, "allOf": [` + overlapping(40) + `]}`, "has more than 4096 subschemas"},
		{"keywords of later drafts", `{"$schema": "http://json-schema.org/draft-07/schema#", "$defs": {"x": ` + strings.Repeat(`{"properties": {"a": `, 40) + `{"properties": {` + many(`"p#": {}`, 3000) + `}}` + strings.Repeat(`}}`, 40) +
			`}, "allOf": [` + strings.ReplaceAll(overlapping(40), "/x", "/$defs/x") + `]}`, "has more than 4096 subschemas"},
		{"repetitions", `{"pattern": "(abcd){900}"}`, "expression expands to"},
		{"expressions", `{"allOf": [` + many(`{"pattern": "a{1000}#"}`, 30) + `]}`, "too large in total"},
		{"classes", `{"pattern": "(\\pL{900})(\\pL{900})"}`, "too large in total"},
		{"long expression", `{"pattern": "` + strings.Repeat(`\\pL`, 5000) + `"}`, "too long"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			text := strings.ReplaceAll(test.schema, "!", "#")
			_, err := schema.Compile([]byte(text), schema.Options{})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("Compile = %.200v; want %q in it", err, test.want)
			}
		})
	}
}

// overlapping returns a schema whose references point to nested parts of the value of the keyword
// x.
func overlapping(n int) string {
	refs := make([]string, n)
	for i := range refs {
		refs[i] = `{"$ref": "!/x` + strings.Repeat("/properties/a", n-i) + `"}`
	}
	return strings.Join(refs, ",")
}
