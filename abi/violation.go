package abi

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Violation describes a part of a document that does not match the schema. Violation describes what
// the schema requires, and never contains content of the document. If a Violation contained
// content, a failed write could reveal stored values to a tool that has no read access.
type Violation struct {
	// Pointer is the JSON Pointer (RFC 6901) to the invalid value. "" is the root.
	Pointer string `json:"pointer"`
	// Keyword is the JSON Schema keyword that rejected the value, such as "type" or "maxLength".
	Keyword string `json:"keyword"`
	// Limit is the value of the keyword in the schema, or nil if that value is too long to report.
	Limit json.RawMessage `json:"limit,omitempty"`
	// Existing is true if the stored content already had this violation before the write.
	Existing bool `json:"existing,omitempty"`
}

// String returns a description such as "/age: must be of type \"integer\"". The format of this
// description can change, so programs should use the fields instead.
func (v Violation) String() string {
	where := v.Pointer
	if where == "" {
		where = "/"
	}
	return where + ": " + v.requirement()
}

// Summary describes the first violations in one line.
func Summary(violations []Violation) string {
	const limit = 5
	var parts []string
	for i, v := range violations {
		if i == limit {
			parts = append(parts, fmt.Sprintf("and %d more", len(violations)-limit))
			break
		}
		parts = append(parts, v.String())
	}
	return strings.Join(parts, "; ")
}

// requirement describes what the schema requires of the invalid value.
func (v Violation) requirement() string {
	limit := string(v.Limit)
	p, known := phrases[v.Keyword]
	switch {
	case limit == "false" && (!known || v.Keyword == "dependencies"): // the schema is false
		return disallowed(v.Keyword)
	case !known:
		return "does not fit " + v.Keyword
	case limit == "" || limit == "true" && v.Keyword != "const" || p.limited == "": // in draft 4, exclusiveMinimum is a boolean
		return p.bare
	case v.Keyword == "type":
		return fmt.Sprintf(p.limited, alternatives(v.Limit))
	}
	text := fmt.Sprintf(p.limited, limit)
	if limit == "1" {
		text = strings.TrimSuffix(text, p.plural)
	}
	return text
}

// disallowed describes a value that the schema does not allow at all.
func disallowed(keyword string) string {
	switch keyword {
	case "additionalProperties", "unevaluatedProperties":
		return "is not a property that the schema declares"
	case "additionalItems", "unevaluatedItems":
		return "is an additional item, which the schema does not allow"
	case "propertyNames":
		return "is not an allowed name"
	}
	return "is not allowed"
}

// alternatives joins one or more types with "or", such as "string" or "null".
func alternatives(limit json.RawMessage) string {
	var types []json.RawMessage
	if json.Unmarshal(limit, &types) != nil {
		return string(limit)
	}
	words := make([]string, len(types))
	for i, t := range types {
		words[i] = string(t)
	}
	return strings.Join(words, " or ")
}

// phrase describes what a keyword requires. The field "limited" is a text that contains the
// keyword's value. The field "bare" is the text that is used if the value is too long or not useful
// to people. The field "plural" is a suffix of the field "limited". If the value is 1, this suffix
// is removed.
type phrase struct{ bare, limited, plural string }

// phrases contains a phrase for every keyword that package schema reports, including the keywords
// of its own limits.
var phrases = map[string]phrase{
	"type":  {bare: "must be of another type", limited: "must be of type %s"},
	"enum":  {bare: "must be one of the values that the schema lists", limited: "must be one of %s"},
	"const": {bare: "must be the value that the schema requires", limited: "must be %s"},

	"minLength": {bare: "is too short", limited: "must have at least %s characters", plural: "s"},
	"maxLength": {bare: "is too long", limited: "must have at most %s characters", plural: "s"},
	"pattern":   {bare: "must match the schema's pattern", limited: "must match the pattern %s"},
	"format":    {bare: "must have the schema's format", limited: "must have the format %s"},

	"minimum":          {bare: "is too small", limited: "must be at least %s"},
	"exclusiveMinimum": {bare: "must be more than the minimum", limited: "must be more than %s"},
	"maximum":          {bare: "is too large", limited: "must be at most %s"},
	"exclusiveMaximum": {bare: "must be less than the maximum", limited: "must be less than %s"},
	"multipleOf":       {bare: "must be a multiple of the value in the schema", limited: "must be a multiple of %s"},

	"minItems":    {bare: "has too few items", limited: "must have at least %s items", plural: "s"},
	"maxItems":    {bare: "has too many items", limited: "must have at most %s items", plural: "s"},
	"uniqueItems": {bare: "must not contain duplicate items"},
	"contains":    {bare: "must have an item that matches the contains schema"},
	"minContains": {bare: "has too few items that match the contains schema", limited: "must have at least %s items that match the contains schema"},
	"maxContains": {bare: "has too many items that match the contains schema", limited: "must have at most %s items that match the contains schema"},

	"required":          {bare: "is required"},
	"dependentRequired": {bare: "is required if another property is present"},
	"dependencies":      {bare: "is required if another property is present"},
	"minProperties":     {bare: "has too few properties", limited: "must have at least %s properties"},
	"maxProperties":     {bare: "has too many properties", limited: "must have at most %s properties"},

	"anyOf": {bare: "must match at least one of the anyOf schemas"},
	"oneOf": {bare: "must match exactly one of the oneOf schemas"},
	"not":   {bare: "must not match the not schema"},

	"maxDepth":  {bare: "is nested too deeply", limited: "is nested deeper than %s levels", plural: "s"},
	"maxNumber": {bare: "is a number with too many digits or an exponent that is too large"},
	"maxWork":   {bare: "takes too long to validate"},
	"json":      {bare: "is not a JSON value"},
}
