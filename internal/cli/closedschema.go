package cli

import (
	"slices"
	"strings"

	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/problem"
	"github.com/toolrun/toolrun/internal/strictjson"
)

// codeNoField is the code of the problem that a template uses a field that cannot exist in any
// record.
const codeNoField problem.Code = "no_field"

// undeclared finds an undeclared name in a path such as "a.b". The results of "undeclared" are the
// path up to the undeclared name, and the names that the schema declares at this location. If the
// schema allows every name in the path, the returned path is "". Only strict stores reject
// undeclared names.
func undeclared(store declare.Store, path string) (field string, known []string) {
	if !store.Strict || path == "" {
		return "", nil
	}
	level, err := strictjson.Decode(store.Schema, strictjson.Limits{})
	if err != nil {
		return "", nil
	}
	steps := strings.Split(path, ".")
	for i, step := range steps {
		properties, closed := closedProperties(level)
		if !closed {
			return "", nil
		}
		next, declared := properties[step]
		if !declared {
			for name := range properties {
				known = append(known, name)
			}
			slices.Sort(known)
			return strings.Join(steps[:i+1], "."), known
		}
		level = next
	}
	return "", nil
}

// plainKeywords lists the keywords that do not allow properties in addition to "properties". If a
// schema has any other keyword, "properties" might not list all allowed properties.
var plainKeywords = []string{"type", "properties", "required", "default", "title", "description", "examples",
	"minProperties", "maxProperties", "deprecated", "readOnly", "writeOnly", "$schema", "$id", "$comment", "$defs", "definitions"}

// closedProperties returns the properties that a schema declares. The result "closed" is true if a
// strict store rejects all other properties.
func closedProperties(schema any) (properties map[string]any, closed bool) {
	keywords, _ := schema.(map[string]any)
	properties, closed = keywords["properties"].(map[string]any)
	for keyword, value := range keywords {
		shut := keyword == "additionalProperties" && value == false
		if !shut && !slices.Contains(plainKeywords, keyword) {
			return nil, false
		}
	}
	return properties, closed
}
