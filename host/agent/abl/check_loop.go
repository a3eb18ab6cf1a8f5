package abl

import (
	"slices"
	"strings"

	"github.com/toolrun/toolrun/host/problem"
)

// waits reports whether a step waits for input or sends a request to a model.
func (s *Step) waits() bool {
	return s.Gather != nil || len(s.OnInput) > 0 || s.Reasoning != nil && *s.Reasoning
}

// successors returns the steps that can run directly after a step, without waiting for input. The
// result "certain" is true if there is only one such step.
func (s *Step) successors() (next []string, certain bool) {
	certain = s.When == nil && s.MaxAttempts == 0
	for _, a := range s.Actions {
		if a.Kind == KindCall || a.Kind == KindCheck {
			certain = false
		}
	}
	visitor{target: func(t Target) {
		if t.Kind == TargetStep {
			next = append(next, t.Value)
		}
	}}.body(s.Body)
	return next, certain && len(next) == 1
}

// loops reports loops of steps that never wait.
func (c checker) loops() {
	steps := map[string]*Step{}
	for i := range c.d.Flow.Steps {
		s := &c.d.Flow.Steps[i]
		steps[s.Value] = s
	}
	reported := map[string]bool{}
	state := map[string]int{} // 1: on the current path; 2: already checked
	var path []string
	var follow func(name string)
	follow = func(name string) {
		s := steps[name]
		if s == nil || s.waits() || state[name] == 2 {
			return
		}
		if state[name] == 1 {
			c.loop(steps, path[slices.Index(path, name):], reported)
			return
		}
		state[name] = 1
		path = append(path, name)
		next, _ := s.successors()
		for _, other := range next {
			follow(other)
		}
		path = path[:len(path)-1]
		state[name] = 2
	}
	for _, s := range c.d.Flow.Steps {
		follow(s.Value)
	}
}

func (c checker) loop(steps map[string]*Step, names []string, reported map[string]bool) {
	first := steps[names[0]]
	if reported[first.Value] {
		return
	}
	reported[first.Value] = true
	certain := true
	for _, name := range names {
		_, only := steps[name].successors()
		certain = certain && only
	}
	text := strings.Join(append(slices.Clone(names), names[0]), " -> ")
	if certain {
		c.r.errorf(first.Name.Position, problem.Loop, "wait with GATHER or ON_INPUT, or end with `THEN: COMPLETE`", "the steps %s form a loop that never waits for input", text)
		return
	}
	c.r.warnf(first.Name.Position, problem.Loop, "wait with GATHER or ON_INPUT", "the steps %s can repeat without waiting for input", text)
}

// CheckAll reports mistakes that involve several agents of an app: conflicting declarations of
// names and paths, handoffs to agents that do not exist, and cyclic handoffs.
func CheckAll(docs []*Document) problem.List {
	a := &agents{byName: map[string]*Document{}}
	for _, d := range docs {
		if first, ok := a.byName[d.Agent.Value]; ok && d.Agent.Value != "" {
			a.errorf(d, d.Agent.Position, problem.DuplicateName, "rename one of the two agents", "the agent %s is already declared in %s", d.Agent.Value, first.File)
			continue
		}
		a.byName[d.Agent.Value] = d
		a.names = append(a.names, d.Agent.Value)
	}
	a.facts(docs)
	for _, d := range docs {
		visitor{agent: func(name Name) {
			if a.byName[name.Value] == nil {
				a.errorf(d, name.Position, problem.UnknownName, "declare the agent in a file of the app", "unknown agent %s", name.Value)
			}
		}}.document(d)
	}
	a.circles()
	return a.problems.Sorted()
}

// agents contains the documents of all agents of an app.
type agents struct {
	byName   map[string]*Document
	names    []string
	problems problem.List
}

func (a *agents) errorf(d *Document, at Position, code problem.Code, hint, format string, args ...any) {
	p := problemAt(at, code, hint, format, args...)
	p.File = d.File
	a.problems = append(a.problems, p)
}

// facts reports paths that several agents declare differently.
func (a *agents) facts(docs []*Document) {
	type declaration struct {
		Fact
		file string
	}
	seen := map[string]declaration{}
	for _, d := range docs {
		for _, f := range d.Memory.Persistent {
			first, ok := seen[f.Value]
			switch {
			case !ok:
				seen[f.Value] = declaration{f, d.File}
			case first.Scope != f.Scope:
				a.errorf(d, f.Position, problem.Scope, "use one scope", "the path %s has the scope %s here, but the scope %s in %s:%d", f.Value, f.Scope, first.Scope, first.file, first.Line)
			case first.Type != f.Type && first.Type != "" && f.Type != "":
				a.errorf(d, f.Position, problem.Style, "use one type", "the path %s has the type %s here, but the type %s in %s:%d", f.Value, f.Type, first.Type, first.file, first.Line)
				a.problems[len(a.problems)-1].Severity = problem.Warning
			}
		}
	}
}

// circles reports agents that hand over to each other in a cycle without waiting for input.
func (a *agents) circles() {
	reported := map[string]bool{}
	for _, name := range a.names {
		path := []string{}
		at := Target{Name: Name{Value: name}}
		for at.Value != "" && !slices.Contains(path, at.Value) && !reported[at.Value] {
			d := a.byName[at.Value]
			if d == nil {
				at = Target{}
				break
			}
			path = append(path, at.Value)
			at = d.certainHandoff()
		}
		i := slices.Index(path, at.Value)
		if i < 0 {
			continue
		}
		for _, other := range path[i:] {
			reported[other] = true
		}
		d := a.byName[path[len(path)-1]]
		a.errorf(d, at.Position, problem.Loop, "wait with GATHER or ON_INPUT before the handoff, or end with `THEN: COMPLETE`",
			"the agents %s hand over in a circle without waiting for input", strings.Join(append(path[i:], at.Value), " -> "))
	}
}

// certainHandoff returns the handoff that each new conversation reaches without waiting. If no
// such handoff exists, the result is an empty Target.
func (d *Document) certainHandoff() Target {
	name := d.Flow.Entry.Value
	if name == "" && len(d.Flow.Steps) > 0 {
		name = d.Flow.Steps[0].Value
	}
	for range d.Flow.Steps {
		i := slices.IndexFunc(d.Flow.Steps, func(s Step) bool { return s.Value == name })
		if i < 0 {
			return Target{}
		}
		s := &d.Flow.Steps[i]
		_, certain := s.successors()
		switch {
		case s.waits():
			return Target{}
		case s.Then.Kind == TargetHandoff && s.When == nil && s.MaxAttempts == 0 && !s.branches():
			return s.Then
		case !certain:
			return Target{}
		}
		name = s.Then.Value
	}
	return Target{}
}

// branches reports whether an action of the step can lead to another step.
func (s *Step) branches() bool {
	return slices.ContainsFunc(s.Actions, func(a Action) bool { return a.Kind == KindCall || a.Kind == KindCheck })
}
