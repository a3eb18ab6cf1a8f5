package app

import (
	"regexp"
	"slices"
)

// maxModels is the maximum number of models of a tool.
const maxModels = 32

var modelName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)

// models reads the names of the models that a tool can use. Whether they exist is known only to the
// operator of a host.
func (r *toolReader) models(n *node) []string {
	if n == nil || n.kind == null {
		return nil
	}
	if n.kind != list {
		r.errorf(n.position, WrongType, "write models: [NAME]", "models must be a list of names, not %s", n.kind)
		return nil
	}
	if len(n.items) > maxModels {
		r.errorf(n.position, BadValue, "", "the tool has %d models; the limit is %d", len(n.items), maxModels)
	}
	var names []string
	for _, item := range n.items {
		switch {
		case item.kind != text:
			r.errorf(item.position, WrongType, "", "the name of a model must be a string, not %s", item.kind)
		case !modelName.MatchString(item.value):
			r.errorf(item.position, BadName, "use letters, digits, _ and -, at most 64, and begin with a letter", "%s is not a valid name of a model", quote(item.value))
		case slices.Contains(names, item.value):
			r.errorf(item.position, BadValue, "omit it", "the model %s is listed twice", quote(item.value))
		default:
			names = append(names, item.value)
		}
	}
	return names
}
