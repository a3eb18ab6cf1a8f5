package machine

import (
	"slices"

	"github.com/toolrun/toolrun/abi"
)

// Models returns the names of the models that the steps use. Each name occurs only once. If the
// machine does not have the permission "llm_call", Models returns nil.
func (d *Document) Models() []string {
	var models []string
	for _, s := range d.Steps {
		if s.Kind == Ask && d.Permissions.Allows(LLMCall) && s.Model.Value != "" && !slices.Contains(models, s.Model.Value) {
			models = append(models, s.Model.Value)
		}
	}
	return models
}

// Collection describes how a machine uses a collection. The name of the collection is a literal in
// the machine.
type Collection struct {
	Name
	// Verbs are the kinds of access that the steps need. They are in the order "read", "write",
	// "delete".
	Verbs []abi.Verb
}

var verbs = map[StepKind]abi.Verb{Recall: abi.Read, Remember: abi.Write, Forget: abi.Delete}

// Collections returns the collections whose names are literals in the steps. The collections are in
// the order of the file. If the machine does not have the permission "memory", Collections returns
// nil.
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

// operations maps each kind of step that performs an operation to the operation.
var operations = map[StepKind]string{Remember: "remember", Recall: "recall", Forget: "forget", Ask: "model.chat"}

// Calls returns the steps that call the host. The steps are in the order of their calls. Each of
// these steps makes one call.
func (d *Document) Calls() []Step {
	return slices.DeleteFunc(slices.Clone(d.Steps), func(s Step) bool { return s.Kind.Operation() == "" })
}

// Operation returns the name of the operation that a step of the kind performs. If such a step
// performs no operation, Operation returns "".
func (k StepKind) Operation() string { return operations[k] }

// Approvals returns the names of the operations that require an approval. Each name occurs only
// once. The section "ensures" can require an approval for a kind of step or for a permission. An
// operation then requires an approval if a step of this kind, or a step that needs this permission,
// performs the operation.
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
