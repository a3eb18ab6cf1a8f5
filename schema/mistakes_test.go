package schema_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/schema"
)

func mistakes(t *testing.T, text string, strict bool) []string {
	t.Helper()
	var lines []string
	for _, e := range compile(t, text, schema.Options{Strict: strict}).Mistakes() {
		line := e.Error()
		if e.Hint != "" {
			line += "; " + e.Hint
		}
		lines = append(lines, line)
	}
	return lines
}

func TestMistakes(t *testing.T) {
	const unknown = " is not a JSON Schema keyword and has no effect, at "
	const noFormat = " is not a JSON Schema format and is not checked, at "
	tests := []struct {
		name, schema string
		strict       bool
		want         []string
	}{
		{"keyword", `{"type": "object", "propertys": {"a": {}}}`, false, []string{`the key "propertys"` + unknown + `/propertys; did you mean "properties"?`}},
		{"case", `{"properties": {"a/b": {"minlength": 1, "max_length": 2}}}`, false, []string{
			`the key "max_length"` + unknown + `/properties/a~1b/max_length; did you mean "maxLength"?`,
			`the key "minlength"` + unknown + `/properties/a~1b/minlength; did you mean "minLength"?`}},
		{"nowhere near", `{"type": "object", "colour": 1}`, false, []string{`the key "colour"` + unknown + `/colour; start the names of your own annotations with x-`}},
		{"property next to type", `{"type": "object", "page": {"type": "string"}}`, false, []string{`the key "page"` + unknown + `/page; declare properties under properties`}},
		{"nullable", `{"properties": {"a": {"type": "string", "nullable": true}}}`, false, []string{
			`the key "nullable"` + unknown + `/properties/a/nullable; write a list of types, such as type: [string, "null"]`}},
		{"draft 4", `{"$schema": "http://json-schema.org/draft-04/schema#", "items": [{"minlen": 1}]}`, false, []string{`the key "minlen"` + unknown + `/items/0/minlen; did you mean "minLength"?`}},
		{"shape", `{"page": "string", "limit": {"type": "integer"}}`, false, []string{
			`the schema has no JSON Schema keyword and accepts every value: "limit" looks like a property; write {type: object, properties: {limit: {type: string}}}`}},
		{"format", `{"properties": {"a": {"format": "datetime"}, "b": {"format": "url"}, "c": {"format": "zip"}}}`, false, []string{
			`"datetime"` + noFormat + `/properties/a/format; did you mean "date-time"?`,
			`"url"` + noFormat + `/properties/b/format; did you mean "uri"?`,
			`"zip"` + noFormat + `/properties/c/format`}},
		{"required and closed", `{"properties": {"a": {}}, "required": ["a", "b"]}`, true, []string{
			"the property \"b\" is required but not declared in `properties`, at /required/1; declare the property in `properties`, or remove the name from `required`"}},
		{"required and misspelt", `{"properties": {"list": {"items": {"properties": {"name": {}}, "additionalProperties": false, "required": ["naem"]}}}}`, false, []string{
			"the property \"naem\" is required but not declared in `properties`, at /properties/list/items/required/0; did you mean \"name\"?"}},
		{"behind $ref", `{"properties": {"a": {"$ref": "#/$defs/p"}}, "$defs": {"p": {"properties": {}, "required": ["x"]}}}`, true, []string{
			"the property \"x\" is required but not declared in `properties`, at /$defs/p/required/0; declare the property in `properties`, or remove the name from `required`"}},
		{"default", `{"properties": {"a": {"type": "string", "default": null}}}`, false, []string{
			`the default violates its schema and is not used: /: must be of type "string", at /properties/a/default`}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := mistakes(t, test.schema, test.strict)
			if strings.Join(got, "\n") != strings.Join(test.want, "\n") {
				t.Errorf("Mistakes of %s\n  %s\nwant\n  %s", test.schema, strings.Join(got, "\n  "), strings.Join(test.want, "\n  "))
			}
		})
	}
}

func TestNoMistakes(t *testing.T) {
	for _, text := range []string{
		`true`, `{}`, prefsSchema, userSchema,
		`{"x-order": 1, "$comment": "c", "title": "t", "description": "d", "examples": [1], "deprecated": true, "readOnly": true, "writeOnly": true}`,
		`{"properties": {"propertys": {}, "format": {"type": "string"}, "requird": {"enum": ["x"]}}}`,
		`{"default": {"propertys": 1}, "examples": [{"minlength": 1}], "not": {"const": {"minlength": 1, "propertys": 1}}}`,
		`{"properties": {"a": {"enum": [{"typ": 1, "format": "datetime"}]}}}`,
		`{"patternProperties": {"^propertys$": {}}, "$defs": {"requird": {}}, "dependentSchemas": {"propertys": {}}}`,
		`{"$ref": "#/components/schemas/Pet", "components": {"schemas": {"Pet": {"type": "object"}}}}`,
		`{"$schema": "http://json-schema.org/draft-04/schema#", "id": "http://example.com/a", "definitions": {"a": {"exclusiveMinimum": true, "minimum": 1}}}`,
		`{"type": "integer", "format": "int64"}`, `{"type": "string", "format": "idn-email"}`,
		`{"properties": {"a": {}}, "patternProperties": {"^b": {}}, "required": ["b1"]}`,
		`{"properties": {"a": {}}, "additionalProperties": true, "required": ["b"]}`,
		`{"required": ["b"]}`,
		`{"properties": {"a": {}}, "required": ["b"], "allOf": [{"properties": {"b": {}}}]}`,
		`{"allOf": [{"properties": {"a": {}}, "required": ["b"]}, {"properties": {"b": {}}}]}`,
		`{"properties": {"a": {"properties": {"x": {}}, "required": ["y"]}}, "patternProperties": {"a": {"properties": {"y": {}}}}}`,
	} {
		for _, strict := range []bool{false, true} {
			if got := mistakes(t, text, strict); got != nil {
				t.Errorf("Mistakes of %s, strict %t: %q", text, strict, got)
			}
		}
	}
}

// TestUnfitDefault tests a default that does not match its own schema, as in some generated
// schemas.
func TestUnfitDefault(t *testing.T) {
	const text = `{"properties": {"a": {"type": "string", "default": null}, "b": {"default": 1}}}`
	got := encode(t, compile(t, text, schema.Options{}).Defaults(decode(t, `{}`)))
	if string(got) != `{"b":1}` {
		t.Errorf("Defaults = %s; want only the default that fits", got)
	}
}

func TestCompileSuggests(t *testing.T) {
	tests := []struct{ schema, message, hint string }{
		{`{"properties": {"a": {"type": "objekt"}}}`, `"type" must be one of`, `did you mean "object"?`},
		{`{"properties": {"a": {"type": ["null", "str"]}}}`, ``, `did you mean "string"?`},
		{`{"$ref": "#/$defs/pet", "$defs": {"Pet": {}}}`, `"#/$defs/pet" does not exist`, `did you mean "Pet"?`},
		{`{"$ref": "#/definitions/pet"}`, `"#/definitions/pet" does not exist`, "declare the schema in `$defs`, and write the reference as `#/$defs/...`"},
	}
	for _, test := range tests {
		_, err := schema.Compile([]byte(test.schema), schema.Options{})
		e, ok := errors.AsType[*schema.Error](err)
		if !ok || !strings.Contains(e.Message, test.message) || e.Hint != test.hint {
			t.Errorf("Compile(%s) = %+v; want %q and the hint %q", test.schema, e, test.message, test.hint)
		}
	}
}

// mistaken returns schemas with thousands of mistakes, by the kind of the mistakes.
func mistaken() map[string]string {
	many := func(format string) string {
		var parts []string
		for i := range 4000 {
			parts = append(parts, fmt.Sprintf(format, strings.Repeat("x", 1+i%20), i))
		}
		return strings.Join(parts, ",")
	}
	return map[string]string{
		"keywords": `{` + many(`"%s%d": 1`) + `}`,
		"formats":  `{"allOf": [` + many(`{"format": "%s%d"}`) + `]}`,
		"required": `{"properties": {` + many(`"%s%d": {}`) + `}, "additionalProperties": false, "required": [` + many(`"a%s%d"`) + `]}`,
	}
}

// TestMistakesAreBounded checks that the number of reported mistakes is limited.
func TestMistakesAreBounded(t *testing.T) {
	for name, text := range mistaken() {
		if n := len(compile(t, text, schema.Options{}).Mistakes()); n != 50 {
			t.Errorf("%s: %d mistakes; want 50", name, n)
		}
	}
}

// BenchmarkMistakes measures the time to compile schemas with thousands of mistakes. Most of the
// time is spent in the library, which lists all subschemas again for each subschema.
func BenchmarkMistakes(b *testing.B) {
	for name, text := range mistaken() {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				s, err := schema.Compile([]byte(text), schema.Options{})
				if err != nil {
					b.Fatal(err)
				}
				s.Mistakes()
			}
		})
	}
}
