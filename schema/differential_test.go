package schema_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/toolrun/toolrun/internal/strictjson"
	"github.com/toolrun/toolrun/schema"
)

// TestAgainstLibrary generates schemas and documents. TestAgainstLibrary compares every result with
// the result of the library, and every strict result with the second implementation of strict.
func TestAgainstLibrary(t *testing.T) {
	const schemas, documents = 600, 16
	taken, strictly := 0, 0
	for seed := range uint64(schemas) {
		g := generator{rand.New(rand.NewPCG(seed, 1))}
		text := encode(t, g.document())
		loose, err := schema.Compile(text, schema.Options{})
		if err != nil {
			continue
		}
		strict, err := schema.Compile(text, schema.Options{Strict: true})
		if err != nil {
			t.Fatalf("Compile(%s) strictly: %v", text, err)
		}
		raw, err := rawSchema(text)
		if err != nil {
			t.Fatalf("Compile = nil for %s, but the library returns the error %v", text, err)
		}
		taken++
		for range documents {
			doc := g.value(3)
			accepted := rawAccepts(raw, doc)
			if got := loose.Validate(doc); (len(got) == 0) != accepted {
				t.Fatalf("Validate(%s) by %s = %v; the library accepts: %v", encode(t, doc), text, got, accepted)
			}
			want := accepted && knowsAllNames(raw, doc)
			if got := strict.Validate(doc); (len(got) == 0) != want {
				t.Fatalf("strict Validate(%s) by %s = %v; want accepted: %v", encode(t, doc), text, got, want)
			}
			if accepted && !want {
				strictly++
			}
		}
	}
	if taken < schemas*2/3 || strictly < schemas/2 {
		t.Errorf("%d of %d schemas accepted, %d documents rejected only by strict; the test covers too little", taken, schemas, strictly)
	}
}

// generator generates small schemas, and documents that often match them.
type generator struct{ *rand.Rand }

func (g generator) document() any {
	root := g.schema(3)
	object, ok := root.(map[string]any)
	if !ok {
		return root
	}
	urls := []string{
		"https://json-schema.org/draft/2020-12/schema", "https://json-schema.org/draft/2019-09/schema",
		"http://json-schema.org/draft-07/schema#", "http://json-schema.org/draft-06/schema#",
	}
	object["$schema"] = urls[g.IntN(len(urls))]
	object["definitions"] = map[string]any{"d0": g.schema(2), "d1": g.schema(2)}
	return object
}

func (g generator) name() string { return string(rune('a' + g.IntN(4))) }

func (g generator) pick(options ...any) any { return options[g.IntN(len(options))] }

func (g generator) schema(depth int) any {
	if depth == 0 || g.IntN(12) == 0 {
		return g.pick(true, true, false, map[string]any{}, map[string]any{"type": g.pick("string", "integer", "object")})
	}
	object := map[string]any{}
	for range 1 + g.IntN(3) {
		g.keyword(object, depth-1)
	}
	return object
}

// keyword adds a random keyword. keyword often adds a keyword that declares names.
func (g generator) keyword(object map[string]any, depth int) {
	one := func() any { return g.schema(depth) }
	list := func() any { return []any{one(), one()} }
	named := func() any { return map[string]any{g.name(): one(), g.name(): one()} }
	switch g.IntN(28) {
	case 0, 1, 2, 3, 4:
		object["properties"] = named()
	case 5:
		object["patternProperties"] = map[string]any{"^[" + g.name() + g.name() + "]$": one()}
	case 6:
		object["additionalProperties"] = one()
	case 7, 8:
		object["allOf"] = list()
	case 9, 10:
		object["anyOf"] = list()
	case 11:
		object["oneOf"] = list()
	case 12:
		object["not"] = one()
	case 13, 14:
		object["if"], object["then"], object["else"] = one(), one(), one()
	case 15:
		object["$ref"] = g.pick("#", "#/definitions/d0", "#/definitions/d1")
	case 16:
		object["items"] = g.pick(one(), one(), []any{one(), one()})
		object["additionalItems"] = one()
	case 17:
		object["prefixItems"] = list()
	case 18:
		object["contains"] = one()
	case 19:
		object["unevaluatedProperties"] = one()
	case 20:
		object["unevaluatedItems"] = one()
	case 21:
		object["dependentSchemas"] = named()
	case 22:
		object["dependencies"] = map[string]any{g.name(): one(), g.name(): []any{g.name()}}
	case 23:
		object["required"] = []any{g.name()}
	case 24:
		object["type"] = g.pick("object", "array", "integer", []any{"object", "array"})
	case 25:
		object["enum"] = []any{g.value(1), g.value(1), g.value(0)}
	case 26:
		object[g.pick("minProperties", "maxProperties", "minItems", "maxItems").(string)] = json.Number(fmt.Sprint(g.IntN(3)))
		object["uniqueItems"] = g.IntN(2) == 0
	case 27:
		object[g.pick("anyOf", "oneOf").(string)] = []any{g.variant(json.Number("1"), depth), g.variant("x", depth), g.variant(true, depth)}
	}
}

// variant returns a branch that a discriminator distinguishes from the other branches.
func (g generator) variant(tag any, depth int) any {
	return map[string]any{
		"required":   []any{"a"},
		"properties": map[string]any{"a": map[string]any{"const": tag}, g.pick("b", "c", "d").(string): g.schema(depth)},
	}
}

func (g generator) value(depth int) any {
	kind := g.IntN(10)
	switch {
	case depth > 0 && kind < 6:
		object := map[string]any{}
		for range g.IntN(4) {
			object[g.name()] = g.value(depth - 1)
		}
		return object
	case depth > 0 && kind < 8:
		elements := []any{}
		for range g.IntN(4) {
			elements = append(elements, g.value(depth-1))
		}
		return elements
	}
	return g.pick(nil, true, "x", json.Number("1"), json.Number("1.0"), json.Number("2.5"))
}

func encode(t testing.TB, v any) []byte {
	t.Helper()
	text, err := strictjson.Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
