package js

import (
	"encoding/json"
	"slices"
	"strings"
)

// missingInputs returns a warning for each missing input that the tool reads as $name, if the
// output contains NaN. The missing input may be the cause. For example, if the input x is missing,
// $x is undefined, and $x + 1 is NaN.
func (r *run) missingInputs() (warnings []string) {
	const limit = 5
	isNaN := func(warning string) bool { return strings.Contains(warning, "is NaN") }
	if len(r.program.script.inputs) == 0 || !slices.ContainsFunc(r.losses, isNaN) {
		return nil
	}
	var input map[string]json.RawMessage
	if len(r.in.Input) > 0 && json.Unmarshal(r.in.Input, &input) != nil {
		return nil
	}
	for _, name := range r.program.script.inputs {
		if _, provided := input[name]; !provided && len(warnings) < limit {
			warnings = append(warnings, "the input has no "+cut(name, maxNameBytes)+", but the tool reads $"+cut(name, maxNameBytes))
		}
	}
	return warnings
}
