package app

import (
	"path"

	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/machine"
	"github.com/toolrun/toolrun/host/problem"
)

// machine reads the declaration that the file of a machine contains. machine reports the problems
// of the file. If the entry of the tool, or its manifest, contains the same key as the file, the
// value in the file is not used.
func (r *toolReader) machine(at position, t *Tool, get func(key string) *node) {
	if path.Ext(t.Source) != machine.Extension || r.sources.files.fsys == nil { // Import reads no files
		return
	}
	content, ok := r.sources.files.read(t.Source, at)
	if !ok {
		return
	}
	doc, problems := machine.Parse(t.Source, content)
	for _, p := range problems {
		r.report(p)
	}
	if problems.Err() != nil {
		return
	}
	if t.Description == "" {
		t.Description = doc.Description
	}
	if get("inputSchema") == nil {
		t.InputSchema = doc.InputSchema()
	}
	if get("outputSchema") == nil {
		t.OutputSchema = doc.OutputSchema()
	}
	if get("models") == nil {
		t.Models = r.machineModels(doc)
	}
	if get("approval") == nil {
		t.Approval.Before = doc.Approvals()
	}
	if get("grants") == nil {
		t.Grants = r.machineGrants(t.Source, doc)
	}
}

// machineModels returns the models that the steps of a machine use.
func (r *toolReader) machineModels(doc *machine.Document) []string {
	for _, s := range doc.Steps {
		if s.Kind == machine.Ask && !modelName().MatchString(s.Model.Value) {
			r.errorf(position{doc.File, s.Model.Line, s.Model.Column}, problem.BadName, modelNameHint, "the text %s is not a valid name of a model", problem.Quote(s.Model.Value))
		}
	}
	return doc.Models()
}

// machineGrants returns the grants on those collections whose names are literals in the machine.
func (r *toolReader) machineGrants(file string, doc *machine.Document) []declare.Grant {
	var grants []declare.Grant
	for _, c := range doc.Collections() {
		g := declare.GrantOn(c.Value, c.Verbs...)
		r.grants.checkTarget(member{position: position{file, c.Line, c.Column}, key: c.Value}, g)
		grants = append(grants, g)
	}
	return grants
}
