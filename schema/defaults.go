package schema

import (
	"github.com/toolrun/toolrun/internal/strictjson"
)

// maxFilled is the maximum number of values that defaults can add to one document.
const maxFilled = 10_000

// Defaults adds the defaults of missing members to doc and to the objects nested in doc. Defaults
// uses the defaults in properties, and follows $ref and allOf. Defaults ignores arrays, and schemas
// that apply only to some documents. Objects that Defaults adds also get defaults. Defaults adds at
// most 10,000 values. Compile rejects a schema if a single default exceeds this number.
//
// The argument "doc" must be a value that strictjson.Decode returned. Defaults can modify doc.
// Defaults returns the document with the defaults.
func (s *Schema) Defaults(doc any) any {
	if s.defaults {
		f := &filler{values: maxFilled, steps: s.limits.Work}
		f.fill(s.root, doc)
	}
	return doc
}

// filler adds defaults to a document, up to a maximum number of values.
type filler struct{ values, steps int }

func (f *filler) spent() bool { return f.values < 0 || f.steps < 0 }

func (f *filler) fill(n *node, doc any) {
	object, ok := doc.(map[string]any)
	if !ok {
		return
	}
	f.steps -= 1 + len(n.object.properties)
	if f.spent() {
		return
	}
	for _, name := range n.object.listed {
		sub := n.object.properties[name]
		if _, ok := object[name]; !ok {
			value, ok := sub.defaultValue()
			if !ok {
				continue
			}
			if f.values -= size(value); f.spent() {
				return
			}
			object[name] = strictjson.Clone(value)
		}
		f.fill(sub, object[name])
	}
	if n.applicators.ref != nil {
		f.fill(n.applicators.ref, doc)
	}
	for _, sub := range n.applicators.allOf {
		f.fill(sub, doc)
	}
}

// defaultValue returns the default of a schema. If the schema has no default, defaultValue returns
// the first default of the schemas that it references.
func (n *node) defaultValue() (any, bool) {
	if n.defaults {
		return n.fallback, true
	}
	if n.applicators.ref != nil {
		if value, ok := n.applicators.ref.defaultValue(); ok {
			return value, true
		}
	}
	for _, sub := range n.applicators.allOf {
		if value, ok := sub.defaultValue(); ok {
			return value, true
		}
	}
	return nil, false
}

// size counts the values in v.
func size(v any) int {
	total := 1
	switch v := v.(type) {
	case []any:
		for _, element := range v {
			total += size(element)
		}
	case map[string]any:
		for _, member := range v {
			total += size(member)
		}
	}
	return total
}

// checkDefaults rejects defaults that expand infinitely. checkDefaults reports a default that does
// not match its own schema as a mistake, and Defaults then ignores it.
func (s *Schema) checkDefaults(all []*node) Errors {
	var errs Errors
	var unfit []*node
	steps := s.limits.Work
	for _, n := range all {
		if !n.defaults {
			continue
		}
		s.defaults = true
		at := join(n.pointer, "default")
		f := &filler{values: maxFilled, steps: steps}
		value := strictjson.Clone(n.fallback)
		f.fill(n, value)
		if steps = f.steps; f.spent() {
			errs = append(errs, &Error{
				Pointer: at,
				Message: "the default, including the defaults of its properties, is infinite or too large",
				Hint:    "change the defaults of the properties so that a default does not contain itself",
			})
			continue
		}
		if found := s.check(n, value); len(found) > 0 {
			e := &Error{Pointer: at, Message: "the default violates its schema and is not used: " + Summary(found), Harmless: true}
			s.mistakes, unfit = append(s.mistakes, e), append(unfit, n)
		}
	}
	for _, n := range unfit {
		n.defaults = false
	}
	return errs.tidy()
}
