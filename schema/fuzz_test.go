package schema_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/internal/strictjson"
	"github.com/toolrun/toolrun/schema"
)

// hostile contains schemas that are designed to exhaust resources. The schemas are seeds of the
// fuzz tests.
var hostile = []string{
	`{"allOf":[{"items":{"$ref":"#"}},{"items":{"$ref":"#"}}]}`,
	chain(20, `{"allOf": [@, @]}`),
	`{"$ref": "#"}`,
	`{"$ref": 1, "$schema": "http://json-schema.org/draft-04/schema#"}`,
	`{"properties": {"a": {"$ref": "#", "default": {}}}}`,
	`{"pattern": "((a{100}){100}){100}"}`,
	`{"patternProperties": {"^(a?){30}b$": {"$ref": "#"}}, "additionalProperties": {"$ref": "#"}}`,
	`{"$id": "file:///x", "$ref": "y#/z"}`,
	`{"$id": "?#", "$ref": "y*/z"}`,
	`{"$dynamicAnchor": "n", "allOf": [{"$dynamicRef": "#n"}]}`,
	`{"$schema": "https://json-schema.org/draft/2019-09/schema", "$recursiveAnchor": true, "unevaluatedItems": {"$recursiveRef": "#"}}`,
	`{"dependencies": {"a": 1}, "multipleOf": 1e-308, "enum": [1e308], "const": -0.0}`,
	`{"oneOf": [{"properties": {"k": {"const": 1}}, "required": ["k"]}, {"properties": {"k": {"const": 2}}, "required": ["k"]}]}`,
	`{"$vocabulary": {"x": true}, "contentSchema": {"$ref": "#/a~1b%25"}, "a/b%": {}}`,
	`{"minLength": 1e300, "maxItems": 9223372036854775808}`,
}

// FuzzCompile checks that Compile returns without a panic for every text, and that its errors have
// valid positions.
func FuzzCompile(f *testing.F) {
	for _, text := range append(hostile, prefsSchema, userSchema) {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		_, err := schema.Compile(text, schema.Options{})
		if err == nil {
			return
		}
		var all schema.Errors
		if !errors.As(err, &all) || len(all) == 0 {
			t.Fatalf("the error is not a schema.Errors: %#v", err)
		}
		for _, mistake := range all {
			if mistake.Message == "" || mistake.Pointer != "" && !strings.HasPrefix(mistake.Pointer, "/") {
				t.Errorf("mistake %#v", mistake)
			}
		}
	})
}

// FuzzValidate checks that validation does not panic, and that its results are deterministic.
// FuzzValidate also checks that a strict schema rejects every document that the schema rejects
// without strict. FuzzValidate also checks that adding defaults twice has no further effect.
func FuzzValidate(f *testing.F) {
	for _, text := range append(hostile, prefsSchema, userSchema) {
		for _, doc := range []string{`{}`, `{"k": 1, "a": {"a": [1.0, "x"]}}`, `[[], [[]], "aaaa", 1e308]`, `"2026-04-30T16:20:00"`} {
			f.Add([]byte(text), []byte(doc))
		}
	}
	f.Fuzz(func(t *testing.T, text, document []byte) {
		limits := schema.Limits{Work: 200_000}
		loose, err := schema.Compile(text, schema.Options{Limits: limits})
		if err != nil {
			return
		}
		doc, err := strictjson.Decode(document, strictjson.Limits{Depth: 100, Keys: 1000})
		if err != nil {
			return
		}
		strict := compile(t, string(text), schema.Options{Strict: true, Limits: limits})
		found := loose.Validate(doc)
		if again := loose.Validate(doc); terse(again) != terse(found) {
			t.Errorf("Validate = %s, and then %s", terse(found), terse(again))
		}
		if len(found) > 0 && len(strict.Validate(doc)) == 0 {
			t.Errorf("strict accepts a document with %s", terse(found))
		}
		once := encode(t, loose.Defaults(doc))
		if twice := encode(t, loose.Defaults(doc)); len(once) < 100_000 && string(twice) != string(once) {
			t.Errorf("Defaults = %s, and then %s", once, twice)
		}
	})
}
