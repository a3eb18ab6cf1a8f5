package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/toolrun/toolrun/abi"
)

// maxMistakes is the maximum number of reported mistakes of one schema.
const maxMistakes = 50

// Mistakes returns likely mistakes that JSON Schema allows, sorted by pointer. The mistakes are
// unknown keywords and formats, which have no effect; defaults that do not match their own schemas,
// which are not used; and required names that a closed object can never have, because the schema
// does not declare them. Mistakes returns at most 50 mistakes, or nil if there are none.
//
// Strict callers reject a schema if it has mistakes that are not Harmless. Other callers show the
// mistakes as warnings.
func (s *Schema) Mistakes() Errors { return slices.Clone(s.mistakes) }

// oddities reports the unknown keywords and formats of one schema.
func (s *scanner) oddities(object map[string]any, pointer string) {
	var unknown []string
	for _, keyword := range sortedKeys(object) {
		if !slices.Contains(keywords, keyword) && !strings.HasPrefix(keyword, "x-") {
			unknown = append(unknown, keyword)
		}
	}
	if pointer == "" && len(unknown) > 0 && readsAsProperties(object, unknown) {
		s.mistake("", "write {type: object, properties: {"+short60(unknown[0])+": {type: string}}}",
			"the schema has no JSON Schema keyword and accepts every value: %q looks like a property", unknown[0])
		return
	}
	for _, keyword := range unknown {
		if len(s.mistakes) >= maxMistakes {
			return // skip this, because finding the intended keyword is expensive
		}
		s.mistake(join(pointer, keyword), keywordHint(object, keyword), "the key %q is not a JSON Schema keyword and has no effect", keyword)
	}
	if format, ok := object["format"].(string); ok && len(s.mistakes) < maxMistakes && !slices.Contains(knownFormats, format) {
		s.mistake(pointer+"/format", suggestion(format, knownFormats), "%q is not a JSON Schema format and is not checked", format)
	}
}

// mistake adds a mistake unless there are already maxMistakes. mistake truncates a long quoted
// value.
func (s *scanner) mistake(pointer, hint, format, quoted string) {
	if len(s.mistakes) < maxMistakes {
		s.mistakes = append(s.mistakes, &Error{Pointer: pointer, Message: fmt.Sprintf(format, short60(quoted)), Hint: hint})
	}
}

// short60 truncates a text to 60 characters for a message.
func short60(text string) string {
	const maximum = 60
	if runes := []rune(text[:min(len(text), 4*maximum)]); len(runes) > maximum || len(text) > 4*maximum {
		return string(runes[:min(len(runes), maximum)]) + "…"
	}
	return text
}

// readsAsProperties reports whether a schema looks like a misplaced value of the keyword
// properties.
func readsAsProperties(object map[string]any, unknown []string) bool {
	for keyword := range object {
		if keyword == "$ref" || !slices.Contains(unknown, keyword) && !slices.Contains(annotations, keyword) && keyword != "$schema" && keyword != "$id" {
			return false
		}
	}
	return slices.ContainsFunc(unknown, func(keyword string) bool {
		return suggestion(keyword, keywords) == "" && readsAsSchema(object[keyword])
	})
}

// readsAsSchema reports whether a value is a schema, or the name of a type.
func readsAsSchema(value any) bool {
	switch value := value.(type) {
	case string:
		return kindNames[value] != 0 || kindNames[meant[strings.ToLower(value)]] != 0
	case map[string]any:
		for keyword := range value {
			if slices.Contains(keywords, keyword) {
				return true
			}
		}
	}
	return false
}

func keywordHint(object map[string]any, keyword string) string {
	if keyword == "nullable" {
		return `write a list of types, such as type: [string, "null"]`
	}
	if hint := suggestion(keyword, keywords); hint != "" {
		return hint
	}
	if object["type"] == "object" && readsAsSchema(object[keyword]) {
		return "declare properties under properties"
	}
	return "start the names of your own annotations with x-"
}

// usedKeywords removes a mistake about an unknown keyword if a reference leads to a schema under
// this keyword. An example of such a keyword is components, which OpenAPI defines.
func (s *scanner) usedKeywords() {
	s.mistakes = slices.DeleteFunc(s.mistakes, func(e *Error) bool {
		return e.Pointer != "" && slices.ContainsFunc(s.targets, func(target string) bool {
			return strings.HasPrefix(target+"/", e.Pointer+"/")
		})
	})
}

// impossible finds names that a closed object requires but does not declare. impossible ignores
// schemas that apply to an object together with other schemas, because the other schemas could
// declare the name.
func (s *Schema) impossible() (errs Errors) {
	seen := map[*node]bool{}
	var visit func(n *node)
	visit = func(n *node) {
		if n == nil || len(errs) >= maxMistakes {
			return
		}
		if n = n.plainly(); seen[n] || len(n.within) > 0 {
			return
		}
		seen[n] = true
		errs = append(errs, s.impossibleIn(n)...)
		r := &n.object
		for _, name := range r.listed {
			if !r.matches(name) {
				visit(r.properties[name])
			}
		}
		visit(r.additional)
		if n.array.contains == nil {
			for _, sub := range n.array.prefix {
				visit(sub)
			}
			visit(n.array.rest)
		}
	}
	visit(s.root)
	return errs
}

// impossibleIn finds names that n requires but does not declare. impossibleIn assumes that no other
// schema applies to the object.
func (s *Schema) impossibleIn(n *node) (errs Errors) {
	r := &n.object
	open := r.additional != nil && !r.additional.never || r.unevaluated != nil && !r.unevaluated.never
	closes := r.additional != nil || r.unevaluated != nil || s.strict && n.declares
	if open || !closes || n.types != 0 && n.types&object == 0 {
		return nil
	}
	for i, name := range r.required {
		if len(errs) >= maxMistakes {
			break
		}
		if r.properties[name] == nil && !r.matches(name) {
			errs = append(errs, &Error{
				Pointer: joinIndex(n.pointer+"/required", i),
				Message: fmt.Sprintf("the property %q is required but not declared in `properties`", short60(name)),
				Hint:    cmp.Or(suggestion(name, r.listed), "declare the property in `properties`, or remove the name from `required`"),
			})
		}
	}
	return errs
}

// matches reports whether a pattern of patternProperties matches a name.
func (r *objectRules) matches(name string) bool {
	return slices.ContainsFunc(r.patterns, func(p patternRule) bool { return p.pattern.matches(name) })
}

// misspelledType returns a hint for an unknown type.
func misspelledType(root any, v abi.Violation) string {
	value, _ := lookup(root, v.Pointer)
	if !strings.HasSuffix(strings.TrimRight(v.Pointer, "/0123456789"), "/type") {
		return ""
	}
	names, ok := value.([]any)
	if !ok {
		names = []any{value}
	}
	for _, name := range names {
		if word, ok := name.(string); ok && kindNames[word] == 0 {
			return suggestion(word, sortedKeys(kindNames))
		}
	}
	return ""
}
