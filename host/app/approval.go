package app

import (
	"slices"

	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/problem"
	"github.com/toolrun/toolrun/internal/lazyregexp"
)

// approvedByUser is the value of the key "by" if the user of a run can approve the effects of this
// run.
const approvedByUser = "user"

// maxGated is the maximum number of a tool's operations that can require an approval.
const maxGated = 64

var (
	approvalKeys = []string{"before", "by"}
	functionName = lazyregexp.New(`^[a-z][a-z0-9_]{0,63}(\.[a-z][a-z0-9_]{0,63})?$`)
)

// approval reads those operations of a tool that require an approval. It accepts operations that do
// not exist, because only the host knows all operations. UnknownOperations reports unknown
// operations.
func (r *toolReader) approval(n *node) (a declare.Approval) {
	if n == nil || n.kind == null || !r.keys(n, "approval", approvalKeys) {
		return a
	}
	if by := n.get("by"); by != nil {
		if name := r.text(by, "by"); name == approvedByUser {
			a.ByUser = true
		} else if by.kind == text {
			r.errorf(by.position, problem.BadValue, "write `by: user`, or omit the key `by`", "approval.by is %s; the only valid value is `user`", problem.Quote(name))
		}
	}
	before := n.get("before")
	switch {
	case before == nil:
		r.errorf(n.position, problem.MissingKey, "add `before: [set_content]`", "the section `approval` does not contain the key `before`")
		return a
	case before.kind != list:
		r.errorf(before.position, problem.WrongType, "write `before: [set_content]`", "approval.before must be a list of operations, not %s", before.kind)
		return a
	case len(before.items) > maxGated:
		r.errorf(before.position, problem.BadValue, "", "approval.before has %d operations; the limit is %d", len(before.items), maxGated)
	}
	for _, item := range before.items {
		switch {
		case item.kind != text:
			r.errorf(item.position, problem.WrongType, "", "the name of an operation must be a string, not %s", item.kind)
		case !functionName().MatchString(item.value):
			r.errorf(item.position, problem.BadName, "write the name of an operation, such as set_content or model.chat", "the text %s is not a valid name of an operation", problem.Quote(item.value))
		case slices.Contains(a.Before, item.value):
			r.errorf(item.position, problem.BadValue, "list the operation once", "the operation %s is listed twice", problem.Quote(item.value))
		default:
			a.Before = append(a.Before, item.value)
		}
	}
	return a
}

// UnknownOperations returns an error for each operation that the declaration of an approval
// contains but that does not exist. The argument contains all operations that exist. Load does not
// report such operations. The host can have several kinds of stores, which determine the operations
// that exist.
func (a *App) UnknownOperations(known []string) problem.List {
	var problems problem.List
	for _, t := range a.Tools {
		for i, name := range t.Approval.Before {
			if slices.Contains(known, name) {
				continue
			}
			at := position{file: t.Source}
			if t.approval != nil {
				if items := t.approval.get("before"); items != nil && i < len(items.items) {
					at = items.items[i].position
				}
			}
			p := newProblem(at, problem.BadValue, didYouMean(name, known), "approval.before contains the operation %s, which does not exist", problem.Quote(name))
			p.Tool = t.Name
			problems = append(problems, p)
		}
	}
	return problems.Sorted()
}
