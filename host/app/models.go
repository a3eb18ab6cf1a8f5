package app

import (
	"slices"

	"github.com/toolrun/toolrun/host/agent/abl"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/problem"
	"github.com/toolrun/toolrun/internal/lazyregexp"
)

// maxModels is the maximum number of models that a tool can use.
const maxModels = 32

var modelName = lazyregexp.New(`^[A-Za-z][A-Za-z0-9_.:-]{0,63}$`)

const modelNameHint = "use a letter and up to 63 more letters, digits, '_', '-', '.' or ':'"

// models reads the names of the models that a tool can use. Whether these models exist is known
// only to the operator of a host.
func (r *toolReader) models(n *node) []string {
	if n == nil || n.kind == null {
		return nil
	}
	if n.kind != list {
		r.errorf(n.position, problem.WrongType, "write models: [NAME]", "the value of `models` must be a list of names, not %s", n.kind)
		return nil
	}
	if len(n.items) > maxModels {
		r.errorf(n.position, problem.BadValue, "", "the tool has %d models; the limit is %d", len(n.items), maxModels)
	}
	var names []string
	for _, item := range n.items {
		switch {
		case item.kind != text:
			r.errorf(item.position, problem.WrongType, "", "the name of a model must be a string, not %s", item.kind)
		case !modelName().MatchString(item.value):
			r.errorf(item.position, problem.BadName, modelNameHint, "the text %s is not a valid name of a model", problem.Quote(item.value))
		case slices.Contains(names, item.value):
			r.errorf(item.position, problem.BadValue, "list the model once", "the model %s is listed twice", problem.Quote(item.value))
		default:
			names = append(names, item.value)
		}
	}
	return names
}

// UnknownModels returns a warning for each unknown model that a tool, an agent or sleep-time memory
// uses. Load does not report unknown models. Only the operator of a host knows which models exist.
func (a *App) UnknownModels(known func(name string) bool) problem.List {
	var problems problem.List
	add := func(at position, tool, name, subject string) {
		if name == "" || known(name) {
			return
		}
		p := newProblem(at, problem.UnknownModel, "declare the model in models.yaml, or use another model", "%s uses the model %s, but this model is not configured", subject, problem.Quote(name))
		p.Tool, p.Severity = tool, problem.Warning
		problems = append(problems, p)
	}
	for _, t := range a.Tools {
		for i, name := range t.Models {
			at := position{file: t.Source}
			if t.models != nil && i < len(t.models.items) {
				at = t.models.items[i].position
			}
			add(at, t.Name, name, "the tool "+problem.Quote(t.Name))
		}
	}
	for _, d := range a.Agents {
		for _, s := range d.Flow.Steps {
			at, subject := position{d.File, s.Line, s.Column}, "the step "+problem.Quote(s.Name.Value)
			for _, name := range modelsOfStep(s) {
				add(at, "", name, subject)
			}
		}
	}
	if s := a.Sleep; s != nil && a.sleepModel != nil {
		add(a.sleepModel.position, "", s.Model, "sleep")
	}
	return problems.Sorted()
}

// UnknownEmbeddings returns a warning for each collection whose embedding model is not known.
func (a *App) UnknownEmbeddings(known func(name string) bool) problem.List {
	var problems problem.List
	for _, st := range a.Stores {
		name := st.Collection.Embedding
		if st.Kind != declare.KindCollection || name == "" || known(name) {
			continue
		}
		p := newProblem(a.storePositions[st.Name], problem.UnknownModel, "declare the model in the section `embeddings` of models.yaml, or use "+declare.Lexical,
			"the collection %s uses the embedding model %s, but this model is not configured", problem.Quote(st.Name), problem.Quote(name))
		p.Severity = problem.Warning
		problems = append(problems, p)
	}
	return problems.Sorted()
}

// modelsOfStep returns the names of the models that a step uses, without duplicates.
func modelsOfStep(s abl.Step) []string {
	names := []string{s.Model, s.IntentModel}
	if s.Gather != nil {
		names = append(names, s.Gather.Model)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
