package schema

import (
	"github.com/toolrun/toolrun/internal/strictjson"
)

// maxFilled is how many values the defaults of a schema may add to one document.
const maxFilled = 10_000

// Defaults fills in the defaults of members that doc, or an object in it, does not have: those of properties,
// also through $ref and allOf. It does not look into arrays, nor at what only some documents have to fit. A
// default that is an object is filled in turn. At most 10,000 values are added; Compile has checked that each
// default alone stays below that.
//
// doc is what strictjson.Decode returns. Defaults may change it, and returns the document with the defaults.
func (s *Schema) Defaults(doc any) any {
	if s.defaults {
		f := &filler{values: maxFilled, steps: s.limits.Work}
		f.fill(s.root, doc)
	}
	return doc
}

// filler fills documents until it has added too much.
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
	if n.inner.ref != nil {
		f.fill(n.inner.ref, doc)
	}
	for _, sub := range n.inner.allOf {
		f.fill(sub, doc)
	}
}

// defaultValue returns a schema's own default, or else the first one that it refers to.
func (n *node) defaultValue() (any, bool) {
	if n.defaults {
		return n.fallback, true
	}
	if n.inner.ref != nil {
		if value, ok := n.inner.ref.defaultValue(); ok {
			return value, true
		}
	}
	for _, sub := range n.inner.allOf {
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

// checkDefaults refuses defaults that never end. One that does not fit the schema it stands in is a mistake, and is not
// filled in.
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
				Message: "the default never ends, or is too large, when the defaults in it are filled in",
				Hint:    "a default that is an object gets the defaults of its own properties; do not let it contain itself",
			})
			continue
		}
		if found := s.check(n, value); len(found) > 0 {
			e := &Error{Pointer: at, Message: "the default does not fit its own schema and is not filled in: " + Summary(found), Harmless: true}
			s.mistakes, unfit = append(s.mistakes, e), append(unfit, n)
		}
	}
	for _, n := range unfit {
		n.defaults = false
	}
	return errs.tidy()
}
