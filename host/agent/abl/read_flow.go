package abl

import (
	"strings"

	"github.com/toolrun/toolrun/host/problem"
)

func readFlow(r *reader, e *entry) {
	f := &r.doc.Flow
	f.Position = e.at()
	seen := map[string]Position{}
	for _, child := range r.limited(e.children, "FLOW") {
		switch {
		case child.is("entry_point"):
			f.Entry = r.name(child, "a step")
		case child.is("steps"):
			readSteps(r, child, seen)
		case child.dash || child.key == "":
			r.errorf(child.at(), problem.Syntax, "write the name of the step and a colon, and write the properties of the step on indented lines below", "the line %s is not a step", problem.Quote(child.source()))
		default:
			addStep(r, child, seen)
		}
	}
}

// readSteps reads the list of steps. Each item of this list can contain the properties of a step.
// The first step is the entry point of the flow.
func readSteps(r *reader, e *entry, seen map[string]Position) {
	f := &r.doc.Flow
	names := r.names(e.value, "steps")
	for _, child := range r.limited(e.children, "steps") {
		switch {
		case child.dash && child.key == "":
			names = append(names, r.nameOf(child.value, "a step"))
		case child.key != "":
			addStep(r, child, seen)
		}
	}
	if f.Entry.Value == "" && len(names) > 0 {
		f.Entry = names[0]
	}
}

func addStep(r *reader, e *entry, seen map[string]Position) {
	if e.value.Value != "" {
		r.errorf(e.value.Position, problem.Syntax, "write the properties of the step on indented lines below", "the step %s has a value", e.key)
		return
	}
	if first, ok := seen[e.key]; ok {
		r.errorf(e.at(), problem.DuplicateName, "rename one of the two steps", "the step %s is already declared in line %d", e.key, first.Line)
		return
	}
	seen[e.key] = e.at()
	s := Step{Name: r.nameOf(Text{Position: e.at(), Value: e.key}, "a step")}
	known := readStepProperties(r, &s)
	gathers := func(e *entry) { s.Gather = readGather(r, e) }
	known["GATHER"] = gathers
	s.Body = readBody(r, e, "the step "+e.key, known)
	if s.Gather != nil {
		s.insertGather()
	}
	r.doc.Flow.Steps = append(r.doc.Flow.Steps, s)
}

// insertGather inserts an action of the kind "gather" into the actions. Its place among the actions
// is the place of GATHER in the file.
func (s *Step) insertGather() {
	i := 0
	for i < len(s.Actions) && s.Actions[i].Line < s.Gather.Line {
		i++
	}
	rest := append([]Action{{Position: s.Gather.Position, Kind: KindGather}}, s.Actions[i:]...)
	s.Actions = append(s.Actions[:i:i], rest...)
}

// readStepProperties returns the functions that read the properties which only steps have.
func readStepProperties(r *reader, s *Step) properties {
	known := properties{
		"REASONING":       func(e *entry) { b := r.boolean(e); s.Reasoning = &b },
		"WHEN":            func(e *entry) { s.When = r.condition(e) },
		"ON_INPUT":        func(e *entry) { s.OnInput = readBranches(r, e) },
		"SUB_INTENTS":     func(e *entry) { s.SubIntents = readIntents(r, e, s) },
		"DIGRESSION":      func(e *entry) { s.Digressions = readIntents(r, e, s) },
		"COMPLETE_WHEN":   func(e *entry) { s.CompleteWhen = r.condition(e) },
		"MAX_ATTEMPTS":    func(e *entry) { s.MaxAttempts = r.count(e) },
		"ON_EXHAUSTED":    func(e *entry) { s.OnExhausted = r.name(e, "a step") },
		"GOAL":            func(e *entry) { s.Goal = r.text(e) },
		"AVAILABLE_TOOLS": func(e *entry) { s.AvailableTools = r.nameList(e, "AVAILABLE_TOOLS") },
		"EXIT_WHEN":       func(e *entry) { s.ExitWhen = r.condition(e) },
		"MAX_TURNS":       func(e *entry) { s.MaxTurns = r.count(e) },
		"MODEL":           func(e *entry) { s.Model = r.text(e).Value },
	}
	known["DIGRESSIONS"] = known["DIGRESSION"]
	return known
}

// readBranches reads the branches of ON_INPUT. If a branch is ELSE, it must be the last branch.
func readBranches(r *reader, e *entry) []Branch {
	var branches []Branch
	for i, item := range r.items(e, "ON_INPUT") {
		b := Branch{Position: item.at()}
		switch {
		case item.is("IF"):
			text := *item
			text.children = nil
			b.If = r.condition(&text)
		case item.is("ELSE") && item.value.Value == "":
			if i+1 < len(e.children) {
				r.errorf(item.at(), problem.Syntax, "move ELSE to the end", "ELSE is not the last branch")
			}
		default:
			r.errorf(item.at(), problem.Syntax, "write `- IF: condition` or `- ELSE:`", "the item %s is not a branch", problem.Quote(item.source()))
			continue
		}
		b.Body = readBody(r, item, "a branch", nil)
		branches = append(branches, b)
	}
	return branches
}

// readIntents reads SUB_INTENTS or DIGRESSION. Each item has INTENT and actions. The list can also
// have a model.
func readIntents(r *reader, e *entry, s *Step) []SubIntent {
	var intents []SubIntent
	list := *e
	list.children = nil
	for _, child := range e.children {
		if !child.dash && child.is("MODEL") {
			s.IntentModel = r.text(child).Value
			continue
		}
		list.children = append(list.children, child)
	}
	for _, item := range r.items(&list, e.key) {
		in := SubIntent{Position: item.at()}
		in.Body = readBodyOf(r, item.at(), flattened(item), "an intent", properties{
			"INTENT": func(e *entry) { in.Intent = r.text(e).Value },
			"RESUME": func(e *entry) { in.Resume = r.boolean(e) },
		})
		if strings.TrimSpace(in.Intent) == "" {
			r.errorf(in.Position, problem.MissingKey, `write INTENT: "phrase"`, "the intent has no phrase")
		}
		intents = append(intents, in)
	}
	return intents
}

// readGather reads the fields that a step collects.
func readGather(r *reader, e *entry) *Gather {
	g := &Gather{Position: e.at()}
	for _, name := range r.names(e.value, "GATHER") {
		g.Fields = append(g.Fields, Field{Name: name, Required: true})
	}
	for _, child := range r.limited(e.children, "GATHER") {
		switch {
		case child.dash:
			g.Fields = append(g.Fields, readField(r, child))
		case child.is("FIELDS"):
			for _, item := range r.items(child, "FIELDS") {
				g.Fields = append(g.Fields, readField(r, item))
			}
		default:
			r.readEntries([]*entry{child}, "GATHER", properties{
				"PROMPT": func(e *entry) { g.Prompt = r.template(e) },
				"MODEL":  func(e *entry) { g.Model = r.text(e).Value },
			})
		}
	}
	seen := map[string]bool{}
	for _, f := range g.Fields {
		if seen[f.Value] {
			r.errorf(f.Name.Position, problem.DuplicateName, "remove one of the two fields", "the field %s occurs twice", problem.Quote(f.Value))
		}
		seen[f.Value] = true
	}
	if len(g.Fields) == 0 {
		r.errorf(e.at(), problem.MissingKey, "write `- name: required` on an indented line below", "GATHER has no fields")
	}
	return g
}

// readField reads a field. A field has the form "NAME: required", "NAME: optional", or NAME.
func readField(r *reader, item *entry) Field {
	f := Field{Required: true}
	if item.key == "" {
		f.Name = r.pathOf(item.value, "a field")
	} else {
		f.Name = r.pathOf(Text{Position: item.at(), Value: item.key}, "a field")
		switch strings.ToLower(item.value.Value) {
		case "required", "true", "":
		case "optional", "false":
			f.Required = false
		default:
			r.errorf(item.value.Position, problem.BadValue, "write `required` or `optional`", "the value %s is not allowed for a field", problem.Quote(item.value.Value))
		}
	}
	r.read(item, "a field", properties{
		"PROMPT":  func(e *entry) { f.Prompt = r.template(e) },
		"TYPE":    func(e *entry) { f.Type = r.typeOf(e) },
		"DEFAULT": func(e *entry) { f.Default = r.constantOf(e) },
	})
	return f
}
