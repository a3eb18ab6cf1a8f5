package schema

import (
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/toolrun/toolrun/internal/spell"
)

// otherKeywords lists the keywords of all supported drafts whose values do not contain schemas.
// otherKeywords also lists the OpenAPI annotations that are common in generated schemas.
var otherKeywords = []string{
	"$schema", "$id", "id", "$anchor", "$ref", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor",
	"$vocabulary", "$comment",
	"type", "enum", "const",
	"multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum",
	"maxLength", "minLength", "pattern", "format", "contentEncoding", "contentMediaType",
	"maxItems", "minItems", "uniqueItems", "maxContains", "minContains",
	"maxProperties", "minProperties", "required", "dependentRequired",
	"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly",
	"example", "externalDocs", "xml", "discriminator",
}

// keywords lists the names of all keywords. The keywords that authors misspell most often are
// first.
var keywords = slices.Concat(
	[]string{"properties", "required", "type", "items", "additionalProperties"},
	otherKeywords, sortedKeys(schemaKeywords),
)

// otherFormats lists the formats of OpenAPI, which are known but not checked.
var otherFormats = []string{
	"int32", "int64", "float", "double", "byte", "binary", "password",
}

var knownFormats = slices.Compact(slices.Sorted(slices.Values(slices.Concat(sortedKeys(jsonschema.Formats), sortedKeys(formats), otherFormats))))

// meant maps common mistakes to the correct keyword or format.
var meant = map[string]string{
	"property": "properties", "props": "properties", "fields": "properties",
	"min": "minimum", "max": "maximum", "regex": "pattern", "regexp": "pattern", "values": "enum",
	"additional": "additionalProperties", "extends": "allOf", "disallow": "not", "divisibleby": "multipleOf",
	"url": "uri", "guid": "uuid", "ip": "ipv4", "mail": "email", "timestamp": "date-time",
	"text": "string", "str": "string", "int": "integer", "bool": "boolean", "float": "number", "double": "number",
	"dict": "object", "map": "object", "list": "array",
}

var wordSeparators = strings.NewReplacer("_", "", "-", "", " ", "")

// suggestion returns a hint with the known word that is most similar to the unknown one, or "".
func suggestion(word string, known []string) string {
	const longest = 64 // the maximum length of a misspelled keyword
	if len(word) > longest {
		return ""
	}
	folded := strings.ToLower(wordSeparators.Replace(word))
	for _, k := range known {
		if strings.ToLower(wordSeparators.Replace(k)) == folded {
			return didYouMean(k)
		}
	}
	if name := meant[folded]; slices.Contains(known, name) {
		return didYouMean(name)
	}
	const maximum = 500 // bounds the time
	if name := spell.Name(word, known[:min(len(known), maximum)]); name != "" {
		return didYouMean(name)
	}
	return ""
}

func didYouMean(name string) string { return `did you mean "` + name + `"?` }
