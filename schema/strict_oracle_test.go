package schema_test

import (
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// This file is a second, independent implementation of strict. The implementation uses the library
// to find the schemas that apply to each value. The knowledge of a schema is the union of the
// knowledge of its subschemas.

// knowledge maps each path of a document to the names and elements that schemas evaluate at this
// path. knowledge also records whether the schemas close the value.
type knowledge map[string]*known

type known struct {
	names, elements map[string]bool
	closed          bool
}

// knowsAllNames reports whether each name of each closed object in a document is evaluated by a
// schema. The document must match s.
func knowsAllNames(s *jsonschema.Schema, doc any) bool {
	return knowsAll(knowledgeOf(s, doc, "", true), doc, "")
}

func knowsAll(k knowledge, v any, path string) bool {
	switch v := v.(type) {
	case map[string]any:
		here := k.at(path)
		for name, member := range v {
			if here.closed && !here.names[name] || !knowsAll(k, member, path+"/"+name) {
				return false
			}
		}
	case []any:
		for i, element := range v {
			if !knowsAll(k, element, fmt.Sprint(path, "/", i)) {
				return false
			}
		}
	}
	return true
}

func (k knowledge) at(path string) *known {
	if k[path] == nil {
		k[path] = &known{names: map[string]bool{}, elements: map[string]bool{}}
	}
	return k[path]
}

func (k knowledge) merge(other knowledge) {
	for path, o := range other {
		here := k.at(path)
		here.closed = here.closed || o.closed
		for name := range o.names {
			here.names[name] = true
		}
		for name := range o.elements {
			here.elements[name] = true
		}
	}
}

// knowledgeOf returns what the schema s evaluates in v. The value v must match s. A schema under
// the keyword "if" does not close objects.
func knowledgeOf(s *jsonschema.Schema, v any, path string, closing bool) knowledge {
	k := knowledge{}
	if s == nil || s.Always != nil {
		return k
	}
	same := func(sub *jsonschema.Schema, condition bool) {
		if sub != nil {
			k.merge(knowledgeOf(sub, v, path, closing && !condition))
		}
	}
	for _, sub := range append([]*jsonschema.Schema{s.Ref, s.RecursiveRef, s.DynamicRef}, s.AllOf...) {
		same(sub, false)
	}
	for _, sub := range append(append([]*jsonschema.Schema{}, s.AnyOf...), s.OneOf...) {
		if rawAccepts(sub, v) {
			same(sub, false)
		}
	}
	if s.If != nil {
		if rawAccepts(s.If, v) {
			same(s.If, true)
			same(s.Then, false)
		} else {
			same(s.Else, false)
		}
	}
	switch v := v.(type) {
	case map[string]any:
		knowMembers(k, s, v, path, closing)
	case []any:
		knowElements(k, s, v, path, closing)
	}
	return k
}

func knowMembers(k knowledge, s *jsonschema.Schema, object map[string]any, path string, closing bool) {
	for name := range object {
		if sub, ok := s.Dependencies[name].(*jsonschema.Schema); ok {
			k.merge(knowledgeOf(sub, object, path, closing))
		}
		if sub, ok := s.DependentSchemas[name]; ok {
			k.merge(knowledgeOf(sub, object, path, closing))
		}
	}
	own := map[string]bool{}
	learn := func(name string, sub *jsonschema.Schema) {
		own[name] = true
		k.merge(knowledgeOf(sub, object[name], path+"/"+name, closing))
	}
	for name := range object {
		if sub, ok := s.Properties[name]; ok {
			learn(name, sub)
		}
		for pattern, sub := range s.PatternProperties {
			if pattern.MatchString(name) {
				learn(name, sub)
			}
		}
	}
	for name := range object {
		if own[name] || s.AdditionalProperties == nil {
			continue
		}
		sub, _ := s.AdditionalProperties.(*jsonschema.Schema)
		learn(name, sub)
	}
	for name := range own {
		k.at(path).names[name] = true
	}
	if s.UnevaluatedProperties != nil {
		for name := range object {
			if !k.at(path).names[name] {
				k.merge(knowledgeOf(s.UnevaluatedProperties, object[name], path+"/"+name, closing))
				k.at(path).names[name] = true
			}
		}
	}
	if s.Properties != nil && closing {
		k.at(path).closed = true
	}
}

func knowElements(k knowledge, s *jsonschema.Schema, elements []any, path string, closing bool) {
	for i, element := range elements {
		index := fmt.Sprint(i)
		var sub *jsonschema.Schema
		prefix, _ := s.Items.([]*jsonschema.Schema)
		if prefix == nil {
			prefix = s.PrefixItems
		}
		covered := true
		switch {
		case i < len(prefix):
			sub = prefix[i]
		case s.Items2020 != nil:
			sub = s.Items2020
		case s.AdditionalItems != nil && prefix != nil:
			sub, _ = s.AdditionalItems.(*jsonschema.Schema)
		default:
			sub, covered = s.Items.(*jsonschema.Schema)
		}
		if covered {
			k.merge(knowledgeOf(sub, element, path+"/"+index, closing))
			k.at(path).elements[index] = true
		}
		if s.Contains != nil && rawAccepts(s.Contains, element) {
			k.merge(knowledgeOf(s.Contains, element, path+"/"+index, false))
			if s.ContainsEval {
				k.at(path).elements[index] = true
			}
		}
	}
	for i, element := range elements {
		index := fmt.Sprint(i)
		if s.UnevaluatedItems != nil && !k.at(path).elements[index] {
			k.merge(knowledgeOf(s.UnevaluatedItems, element, path+"/"+index, closing))
			k.at(path).elements[index] = true
		}
	}
}
