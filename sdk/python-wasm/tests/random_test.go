package tests

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
)

// randomVectors makes vectors that nobody thought of: random schemas, contents, projections and options, out of few
// names and values, so that they often meet.
func randomVectors(t *testing.T, seed uint64, count int) []vector {
	t.Helper()
	r := random{rand.New(rand.NewPCG(seed, 1))}
	var all []vector
	for len(all) < count {
		v := r.vector(fmt.Sprintf("random %d.%d", seed, len(all)))
		if v.declares() {
			v.answer(t)
			all = append(all, v)
		}
	}
	return all
}

type random struct{ *rand.Rand }

func (r random) vector(name string) vector {
	s := store{Access: pick(r, "user", "session", "application"), Retention: pick(r, "", "1h", "session", "1_day"), Strict: r.IntN(3) > 0}
	if r.IntN(5) > 0 {
		schema := r.schema(3)
		if r.IntN(3) > 0 { // most contents are objects
			schema = map[string]any{"type": "object", "properties": map[string]any{"a": r.schema(2), "b": r.schema(2)}, pick(r, "allOf", "anyOf", "oneOf"): []any{schema, r.schema(2)}}
		}
		schema["$defs"] = map[string]any{"d": r.schema(1)}
		s.Schema = raw(schema)
	}
	v := vector{Name: name, Stores: map[string]store{"s": s}}
	if r.IntN(4) == 0 {
		v.Limits = &limits{RecordBytes: 20 + r.IntN(60), Depth: 2 + r.IntN(3), Keys: 2 + r.IntN(3), AppRecords: int64(1 + r.IntN(2))}
	}
	for range 1 + r.IntN(4) {
		v.Runs = append(v.Runs, r.run())
	}
	return v
}

func (r random) run() run {
	next := run{User: pick(r, "ann", "ann", "bob"), Session: pick(r, "s1", "s1", "s2", ""), Fails: r.IntN(8) == 0, After: pick(r, "", "", "10m", "61m")}
	for range 1 + r.IntN(6) {
		switch r.IntN(6) {
		case 0, 1:
			next.Calls = append(next.Calls, call{Op: "get_content", Args: raws("s", r.projection(2), pick[any](r, nil, nil, map[string]any{"record": true}))})
		case 2:
			next.Calls = append(next.Calls, call{Op: "delete_content", Args: raws("s", pick[any](r, nil, nil, map[string]any{"if_revision": r.IntN(3)}))})
		default:
			next.Calls = append(next.Calls, call{Op: "set_content", Args: raws("s", r.content(), r.options())})
		}
	}
	return next
}

func (r random) options() any {
	switch r.IntN(6) {
	case 0:
		return map[string]any{"replace": true}
	case 1:
		return map[string]any{"if_revision": r.IntN(4)}
	case 2:
		return map[string]any{"ttl": pick(r, "30m", "2h", "20s", "3d")}
	}
	return nil
}

func (r random) content() any {
	if r.IntN(10) == 0 {
		return r.value(2)
	}
	return r.object(3)
}

func (r random) name() string { return pick(r, "a", "b", "c", "x-d") }

func (r random) value(depth int) any {
	if depth > 0 && r.IntN(2) == 0 {
		if r.IntN(3) > 0 {
			return r.object(depth)
		}
		list := []any{}
		for range r.IntN(4) {
			list = append(list, r.value(depth-1))
		}
		return list
	}
	return pick[any](r, nil, true, false, 0, 1, 2, -1, 1.5, "", "a", "bb", "ccc", "2030-01-01T00:00:00")
}

func (r random) object(depth int) any {
	object := map[string]any{}
	for range r.IntN(4) {
		object[r.name()] = r.value(depth - 1)
	}
	return object
}

func (r random) projection(depth int) any {
	if r.IntN(3) == 0 {
		return nil
	}
	fields := map[string]any{}
	for range r.IntN(3) {
		name := pick(r, "a", "b", "a.b", "c", "b.a.c", "a.c", `a\.b`, `a\\.b`, `a\`, "a.$")
		fields[name] = pick[any](r, 0, 1, true, false, 1)
		if depth > 0 && r.IntN(4) == 0 {
			fields[name] = map[string]any{r.name(): pick(r, 0, 1)}
		}
	}
	return fields
}

// schema makes a schema of some keywords, which need not make sense together.
func (r random) schema(depth int) map[string]any {
	s := map[string]any{}
	for range 1 + r.IntN(3) {
		if depth > 0 && r.IntN(3) > 0 {
			r.applicator(s, depth-1)
		} else {
			r.assertion(s)
		}
	}
	return s
}

func (r random) sub(depth int) any {
	switch r.IntN(12) {
	case 0:
		return false
	case 1:
		return true
	case 2:
		return map[string]any{"$ref": "#/$defs/d"}
	}
	return r.schema(depth)
}

func (r random) applicator(s map[string]any, depth int) {
	switch r.IntN(14) {
	case 0, 1, 2:
		s["properties"] = map[string]any{r.name(): r.sub(depth), r.name(): r.sub(depth)}
	case 3:
		s["additionalProperties"] = r.sub(depth)
	case 4:
		s["patternProperties"] = map[string]any{pick(r, "^x-", "^[ab]$"): r.sub(depth)}
	case 5:
		s["items"] = r.sub(depth)
	case 6:
		s["prefixItems"] = []any{r.sub(depth)}
	case 7:
		s[pick(r, "anyOf", "oneOf", "allOf")] = []any{r.sub(depth), r.sub(depth)}
	case 8:
		s["if"], s["then"], s["else"] = r.sub(depth), r.sub(depth), r.sub(depth)
	case 9:
		s["not"] = r.sub(depth)
	case 10:
		s["contains"], s["maxContains"] = r.sub(depth), r.IntN(3)
	case 11:
		s[pick(r, "unevaluatedProperties", "unevaluatedItems")] = r.sub(depth)
	case 12:
		s["dependentSchemas"] = map[string]any{r.name(): r.sub(depth)}
	case 13: // branches that one property tells apart
		s["oneOf"] = []any{r.tagged("a", depth), r.tagged("bb", depth)}
	}
}

func (r random) tagged(tag string, depth int) any {
	return map[string]any{"properties": map[string]any{"a": map[string]any{"const": tag}, "b": r.sub(depth)}, "required": []string{"a"}}
}

func (r random) assertion(s map[string]any) {
	switch r.IntN(11) {
	case 0, 1:
		s["type"] = pick[any](r, "object", "string", "integer", "number", "array", "boolean", []string{"null", "object"}, []string{"integer", "string"})
	case 2:
		s["enum"] = []any{r.value(1), r.value(0), 1, "a"}
	case 3:
		s["const"] = r.value(0)
	case 4:
		s[pick(r, "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")] = r.IntN(3)
	case 5:
		s[pick(r, "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")] = r.IntN(3)
	case 6:
		s["pattern"] = pick(r, "^a", "b+", "^$")
	case 7:
		s["required"] = []string{r.name()}
	case 8:
		s["uniqueItems"] = true
	case 9:
		s[pick(r, "format", "title")] = "date-time"
	case 10:
		s["dependentRequired"] = map[string]any{r.name(): []string{r.name()}}
	}
}

func pick[T any](r random, choices ...T) T { return choices[r.IntN(len(choices))] }

func raw(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // what this file makes is always JSON
	}
	return text
}

func raws(values ...any) []json.RawMessage {
	var all []json.RawMessage
	for _, v := range values {
		all = append(all, raw(v))
	}
	return all
}
