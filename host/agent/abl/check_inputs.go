package abl

import (
	"maps"
	"slices"

	"github.com/toolrun/toolrun/host/problem"
	"github.com/toolrun/toolrun/internal/spell"
)

// ToolInputs describes the input of a tool.
type ToolInputs struct {
	// Names contains the names of the known inputs. Required contains the names of the inputs that
	// every call must contain.
	Names, Required []string
	// Closed is true if the tool accepts only the inputs in Names.
	Closed bool
}

// CheckInputs reports calls that can never succeed. Such a call omits an input that the tool
// requires, or passes an input that the tool does not accept. CheckInputs skips calls to tools that
// the argument "tools" does not contain.
func CheckInputs(d *Document, tools map[string]ToolInputs) problem.List {
	var problems problem.List
	visitor{call: func(c *Call) {
		inputs, ok := tools[c.Tool.Value]
		if ok && len(problems) < maxProblems {
			problems = append(problems, checkCall(c, inputs)...)
		}
	}}.document(d)
	for i := range problems {
		problems[i].File = d.File
	}
	return problems.Sorted()
}

func checkCall(c *Call, inputs ToolInputs) problem.List {
	var problems problem.List
	passed, unknown := map[string]bool{}, map[string]bool{}
	for _, arg := range c.Args {
		name := firstName(arg.Target.Value)
		passed[name] = true
		if slices.Contains(inputs.Names, name) {
			continue
		}
		unknown[name] = true
		if inputs.Closed {
			hint := "remove it"
			if best := spell.Name(name, inputs.Names); best != "" {
				hint = "did you mean " + best + "?"
			}
			problems = append(problems, problemAt(arg.Target.Position, problem.UnknownName, hint, "the tool %s has no input %s", c.Tool.Value, name))
		}
	}
	for _, name := range inputs.Required {
		if passed[name] {
			continue
		}
		hint := "write " + c.Tool.Value + "(" + name + ": expression)"
		if best := spell.Name(name, slices.Sorted(maps.Keys(unknown))); best != "" {
			hint = "rename the input " + best
		}
		problems = append(problems, problemAt(c.Tool.Position, problem.MissingKey, hint, "the call to %s omits the required input %s", c.Tool.Value, name))
	}
	return problems
}
