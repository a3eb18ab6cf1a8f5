package abi

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Violation is one place where a document does not fit a schema. It tells what the schema asks, never what
// the document holds: a tool that may write but not read must not learn a stored value by failing.
type Violation struct {
	// Pointer is the JSON Pointer (RFC 6901) of the offending value, "" for the root.
	Pointer string `json:"pointer"`
	// Keyword is the JSON Schema keyword that refused it, such as "type" or "maxLength".
	Keyword string `json:"keyword"`
	// Limit is the keyword's value in the schema, where it is short enough to be told.
	Limit json.RawMessage `json:"limit,omitempty"`
	// Existing is true where the stored content already had this violation before the write.
	Existing bool `json:"existing,omitempty"`
}

// String says the violation in words: "/age: must be of type \"integer\"". Programs go by the fields; the
// words are for people and may change.
func (v Violation) String() string {
	where := v.Pointer
	if where == "" {
		where = "/"
	}
	return where + ": " + v.demand()
}

// Summary says violations in one line, the first few of them.
func Summary(violations []Violation) string {
	const most = 5
	var parts []string
	for i, v := range violations {
		if i == most {
			parts = append(parts, fmt.Sprintf("and %d more", len(violations)-most))
			break
		}
		parts = append(parts, v.String())
	}
	return strings.Join(parts, "; ")
}

// demand is what the schema asks of the value.
func (v Violation) demand() string {
	limit := string(v.Limit)
	p, known := phrases[v.Keyword]
	switch {
	case limit == "false" && (!known || v.Keyword == "dependencies"): // the schema that the keyword holds allows nothing
		return refused(v.Keyword)
	case !known:
		return "does not fit " + v.Keyword
	case limit == "" || limit == "true" && v.Keyword != "const" || p.limited == "": // draft 4 has exclusiveMinimum: true
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

// refused is what to say of a value that no value is allowed in place of.
func refused(keyword string) string {
	switch keyword {
	case "additionalProperties", "unevaluatedProperties":
		return "is not a property that the schema declares"
	case "additionalItems", "unevaluatedItems":
		return "is one item more than the schema allows"
	case "propertyNames":
		return "is not an allowed name"
	}
	return "is not allowed"
}

// alternatives reads a type or a list of types as "string" or "null".
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

// phrase says a keyword in words: limited where its value is told, bare where it is too long for that, or says
// nothing to a person. What a limit of 1 makes too much of limited is plural.
type phrase struct{ bare, limited, plural string }

// phrases has the keywords that package schema reports, those of its own bounds included.
var phrases = map[string]phrase{
	"type":  {bare: "must be of another type", limited: "must be of type %s"},
	"enum":  {bare: "must be one of the values that the schema lists", limited: "must be one of %s"},
	"const": {bare: "must be the value that the schema gives", limited: "must be %s"},

	"minLength": {bare: "is too short", limited: "must have at least %s characters", plural: "s"},
	"maxLength": {bare: "is too long", limited: "must have at most %s characters", plural: "s"},
	"pattern":   {bare: "must match the schema's pattern", limited: "must match the pattern %s"},
	"format":    {bare: "must have the schema's format", limited: "must have the format %s"},

	"minimum":          {bare: "is too small", limited: "must be at least %s"},
	"exclusiveMinimum": {bare: "must be more than the minimum", limited: "must be more than %s"},
	"maximum":          {bare: "is too large", limited: "must be at most %s"},
	"exclusiveMaximum": {bare: "must be less than the maximum", limited: "must be less than %s"},
	"multipleOf":       {bare: "must be a multiple of what the schema says", limited: "must be a multiple of %s"},

	"minItems":    {bare: "has too few items", limited: "must have at least %s items", plural: "s"},
	"maxItems":    {bare: "has too many items", limited: "must have at most %s items", plural: "s"},
	"uniqueItems": {bare: "must not have an item twice"},
	"contains":    {bare: "must have an item that fits what contains says"},
	"minContains": {bare: "has too few items that fit what contains says", limited: "must have at least %s items that fit what contains says"},
	"maxContains": {bare: "has too many items that fit what contains says", limited: "must have at most %s items that fit what contains says"},

	"required":          {bare: "is required"},
	"dependentRequired": {bare: "is required beside another property"},
	"dependencies":      {bare: "is required beside another property"},
	"minProperties":     {bare: "has too few properties", limited: "must have at least %s properties"},
	"maxProperties":     {bare: "has too many properties", limited: "must have at most %s properties"},

	"anyOf": {bare: "must fit one of the schemas of anyOf"},
	"oneOf": {bare: "must fit exactly one of the schemas of oneOf"},
	"not":   {bare: "must not fit what not says"},

	"maxDepth":  {bare: "is nested too deep", limited: "is nested deeper than %s levels", plural: "s"},
	"maxNumber": {bare: "is a number with too many digits or too large an exponent"},
	"maxWork":   {bare: "takes too long to check"},
	"json":      {bare: "is no JSON value"},
}
