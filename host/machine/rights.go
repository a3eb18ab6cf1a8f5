package machine

import (
	"slices"

	"github.com/toolrun/toolrun/abi"
)

// Models returns the names of the models that the steps use, without duplicates. Models returns nil
// if the machine does not have the permission "llm_call".
func (d *Document) Models() []string {
	var models []string
	for _, s := range d.Steps {
		if s.Kind == Ask && d.Permissions.Allows(LLMCall) && s.Model.Value != "" && !slices.Contains(models, s.Model.Value) {
			models = append(models, s.Model.Value)
		}
	}
	return models
}

// Collection is a collection whose name is a literal in a machine.
type Collection struct {
	Name
	// Verbs are the kinds of access that the steps need, in the order "read", "write", "delete".
	Verbs []abi.Verb
}

var verbs = map[StepKind]abi.Verb{Recall: abi.Read, Remember: abi.Write, Forget: abi.Delete}

// Collections returns the collections whose names are literals in the steps, in the order of the
// file. Collections returns nil if the machine does not have the permission "memory".
func (d *Document) Collections() []Collection {
	if !d.Permissions.Allows(Memory) {
		return nil
	}
	var found []Collection
	for _, s := range d.Steps {
		setting, _ := s.Setting("collection")
		value, _ := setting.Script.Literal()
		name, ok := value.(string)
		if !ok {
			continue
		}
		i := slices.IndexFunc(found, func(c Collection) bool { return c.Value == name })
		if i < 0 {
			i = len(found)
			found = append(found, Collection{Name: Name{setting.Script.Position, name}})
		}
		if verb := verbs[s.Kind]; !slices.Contains(found[i].Verbs, verb) {
			found[i].Verbs = append(found[i].Verbs, verb)
		}
	}
	order := []abi.Verb{abi.Read, abi.Write, abi.Delete}
	for _, c := range found {
		slices.SortFunc(c.Verbs, func(a, b abi.Verb) int { return slices.Index(order, a) - slices.Index(order, b) })
	}
	return found
}

// operations maps the kinds of steps with effects to the operations that they perform.
var operations = map[StepKind]string{Remember: "remember", Recall: "recall", Forget: "forget", Ask: "model.chat"}

// Calls returns the steps that call the host, in the order of the calls. Each of these steps makes
// one call.
func (d *Document) Calls() []Step {
	return slices.DeleteFunc(slices.Clone(d.Steps), func(s Step) bool { return s.Kind.Operation() == "" })
}

// Operation returns the name of the operation that steps of the kind perform, or "" if these steps
// perform no operation.
func (k StepKind) Operation() string { return operations[k] }

// Approvals returns the names of the operations that require an approval, without duplicates. An
// operation requires an approval if the section "ensures" requires an approval for the kind or the
// permission of a step that performs the operation.
func (d *Document) Approvals() []string {
	var found []string
	for _, s := range d.Steps {
		operation := s.Kind.Operation()
		requires := func(n Name) bool { return n.Value == string(s.Kind) || n.Value == s.Kind.Permission() }
		if operation != "" && !slices.Contains(found, operation) && slices.ContainsFunc(d.Permissions.Approval, requires) {
			found = append(found, operation)
		}
	}
	return found
}
