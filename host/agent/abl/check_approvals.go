package abl

import (
	"slices"
	"strings"

	"github.com/toolrun/toolrun/host/problem"
)

// CheckApprovals warns once about each tool of a document that requires an approval, because a turn
// cannot wait for an approval. The argument "approvals" maps the name of a tool to the operations
// of the tool that require an approval.
func CheckApprovals(d *Document, approvals map[string][]string) problem.List {
	var problems problem.List
	var found []string
	use := func(tool Name) {
		operations := approvals[tool.Value]
		if len(operations) == 0 || slices.Contains(found, tool.Value) || len(problems) == maxProblems {
			return
		}
		found = append(found, tool.Value)
		p := problemAt(tool.Position, problem.Contradiction, "remove the tool from the agent, or the approval from the tool",
			"the tool %s requires an approval for %s, but a turn cannot wait for an approval; a call of the tool fails if the tool uses this operation", tool.Value, strings.Join(operations, ", "))
		p.File, p.Severity = d.File, problem.Warning
		problems = append(problems, p)
	}
	for _, tool := range d.Tools {
		use(tool)
	}
	visitor{tool: use}.document(d)
	return problems.Sorted()
}
