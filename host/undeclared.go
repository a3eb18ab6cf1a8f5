package host

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolrun/toolrun/internal/spell"
)

// openInputs lists top-level keywords of an input schema. Each keyword in openInputs declares
// members outside of "properties", or explicitly allows undeclared members.
var openInputs = []string{
	"additionalProperties", "unevaluatedProperties", "patternProperties", "propertyNames", "dependentSchemas", "dependencies",
	"$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "if",
}

// declaredInputs returns the names of the properties of an input schema. If the schema could allow
// other members, declaredInputs returns nil.
func declaredInputs(inputSchema []byte, params []string) []string {
	var keywords map[string]json.RawMessage
	if json.Unmarshal(inputSchema, &keywords) != nil {
		return nil
	}
	for _, open := range openInputs {
		if _, is := keywords[open]; is {
			return nil
		}
	}
	return params
}

// These are the limits on the warnings about undeclared members of an input.
const (
	maxUndeclared  = 10
	maxNameInWords = 64
)

// undeclared returns warnings about members of an input that the tool does not declare. A member
// can be a misspelling of a declared name that is missing from the input. Warnings about such
// members come first.
func (t *tool) undeclared(input any) []string {
	members, _ := input.(map[string]any)
	var missing []string
	for _, name := range t.inputs {
		if _, provided := members[name]; !provided {
			missing = append(missing, name)
		}
	}
	var near, far []string
	for name := range members {
		if len(t.inputs) == 0 || slices.Contains(t.inputs, name) {
			continue
		}
		warning := fmt.Sprintf("the tool's inputSchema does not declare the input %q", shortName(name))
		if meant := spell.Name(name, missing); meant != "" {
			near = append(near, fmt.Sprintf("%s; did you mean %q?", warning, shortName(meant)))
			continue
		}
		far = append(far, warning)
	}
	slices.Sort(near)
	slices.Sort(far)
	all := append(near, far...)
	return all[:min(len(all), maxUndeclared)]
}

// shortName truncates the name of a member for use in a warning.
func shortName(name string) string {
	if len(name) <= maxNameInWords {
		return name
	}
	return strings.ToValidUTF8(name[:maxNameInWords], "") + "…"
}
