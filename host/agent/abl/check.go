package abl

import (
	"slices"
	"strings"

	"github.com/toolrun/toolrun/host/problem"
	"github.com/toolrun/toolrun/internal/spell"
)

// checker finds contradictions between the declarations of a document.
type checker struct {
	r *reader
	d *Document
	// whole is false if the document is only a part of a file. In this case, the declarations in
	// the rest of the file are unknown.
	whole bool
}

func newChecker(r *reader) checker { return checker{r, r.doc, r.doc.Agent.Value != ""} }

func (c checker) check() {
	c.variables()
	c.reserved()
	c.facts()
	c.access()
	c.nulls()
	c.tools()
	if c.whole {
		c.steps()
		c.triggers()
		c.misspelled()
		c.misspelledPaths()
		c.unread()
		c.computed()
	}
	c.loops()
}

// variables warns about session variables that are declared twice or never reset.
func (c checker) variables() {
	seen := map[string]int{}
	for _, v := range c.d.Memory.Session {
		if line := seen[v.Value]; line > 0 {
			c.r.warnf(v.Position, problem.DuplicateName, "remove one declaration; only the last declaration has an effect", "the session variable %s is already declared in line %d", v.Value, line)
		}
		seen[v.Value] = v.Line
		if v.Reset == ResetNever {
			c.r.warnf(v.Position, problem.Style, "declare a path under `persistent` for values that survive sessions", "the session variable %s is never reset", v.Value)
		}
	}
}

// reserved warns about variables that expressions cannot read because their names are reserved.
func (c checker) reserved() {
	meanings := map[string]string{
		"input": "the message of the user", "call_result": "the output of the last call", "call_error": "the fault of the last call",
	}
	check := func(name Name) {
		first, _, _ := strings.Cut(name.Value, ".")
		if meaning := meanings[first]; meaning != "" {
			c.r.warnf(name.Position, problem.SuspiciousRule, "use another name", "the name %s is reserved for %s, so expressions cannot read this variable", first, meaning)
		}
	}
	for _, v := range c.d.Memory.Session {
		check(v.Name)
	}
	visitor{write: check}.document(c.d)
}

// facts reports paths that are declared twice.
func (c checker) facts() {
	seen := map[string]Fact{}
	for _, f := range c.d.Memory.Persistent {
		switch first, ok := seen[f.Value]; {
		case !ok:
			seen[f.Value] = f
		case first.Scope != f.Scope:
			c.r.errorf(f.Position, problem.Scope, "declare the path once", "the path %s has the scope %s here, but the scope %s in line %d", f.Value, f.Scope, first.Scope, first.Line)
		default:
			c.r.warnf(f.Position, problem.DuplicateName, "remove one declaration; only the first declaration has an effect", "the path %s is already declared in line %d", f.Value, first.Line)
		}
	}
}

// declaredFacts returns a function that finds a declared fact by a path. The function returns the
// fact that has this path, or the fact that contains this path.
func (d *Document) declaredFacts() func(path string) (Fact, bool) {
	byPath := make(map[string]Fact, len(d.Memory.Persistent))
	for _, f := range d.Memory.Persistent {
		if _, ok := byPath[f.Value]; !ok {
			byPath[f.Value] = f
		}
	}
	return func(path string) (Fact, bool) {
		for path != "" {
			if f, ok := byPath[path]; ok {
				return f, true
			}
			path = path[:max(strings.LastIndexByte(path, '.'), 0)]
		}
		return Fact{}, false
	}
}

// access reports three mistakes: reads of write-only paths, writes of read-only paths, and writes
// of paths that are not declared.
func (c checker) access() {
	declared := c.d.declaredFacts()
	read := func(at Position, path string) {
		if f, ok := declared(path); ok && f.Access == AccessWrite {
			c.r.errorf(at, problem.Access, "declare the path with ACCESS: readwrite", "the path %s has ACCESS: write and cannot be read", f.Value)
		}
	}
	write := func(name Name, needed bool) {
		f, ok := declared(name.Value)
		switch {
		case ok && f.Access == AccessRead:
			c.r.errorf(name.Position, problem.Access, "declare the path with ACCESS: readwrite", "the path %s has ACCESS: read and cannot be written", f.Value)
		case !ok && needed && c.whole && isFactPath(name.Value):
			c.r.errorf(name.Position, problem.UnknownName, "declare the path under MEMORY, persistent: - "+name.Value, "the path %s is not declared", name.Value)
		}
	}
	references := func(list []Reference) {
		for _, ref := range list {
			read(ref.Position, ref.String())
		}
	}
	visitor{
		expr:     func(x *Expr) { references(x.References()) },
		template: func(t *Template) { references(t.References()) },
		write:    func(name Name) { write(name, true) },
	}.document(c.d)
	for _, t := range c.d.Memory.Triggers {
		write(t.Target, false)
	}
	for _, recall := range c.d.Memory.Recalls {
		for _, path := range recall.Paths {
			read(path.Position, path.Value)
		}
	}
}

// nulls warns about comparisons with null.
func (c checker) nulls() {
	visitor{expr: func(x *Expr) {
		walk(x.root, func(n node) {
			b, ok := n.(*binary)
			if ok && (b.op == opEqual || b.op == opNotEqual) && (isNullLiteral(b.l) || isNullLiteral(b.r)) {
				c.r.warnf(b.at, problem.Style, "write IS SET or IS NOT SET", "a comparison with null has another result in constraints than in other conditions")
			}
		})
	}}.document(c.d)
}

// tools reports calls to tools that are missing from the list TOOLS of the agent.
func (c checker) tools() {
	if !c.d.ToolsDeclared {
		return
	}
	names := make([]string, len(c.d.Tools))
	for i, tool := range c.d.Tools {
		if slices.Contains(names[:i], tool.Value) {
			c.r.warnf(tool.Position, problem.DuplicateName, "list the tool once", "the tool %s is listed twice", tool.Value)
		}
		names[i] = tool.Value
	}
	for _, p := range unknownTools(c.d, names, "add it to TOOLS") {
		c.r.report(p)
	}
}

func unknownTools(d *Document, tools []string, hint string) problem.List {
	var problems problem.List
	visitor{tool: func(name Name) {
		if len(problems) >= maxProblems || slices.Contains(tools, name.Value) {
			return
		}
		hint := hint
		if best := spell.Name(name.Value, tools); best != "" {
			hint = "did you mean " + best + "?"
		}
		problems = append(problems, problemAt(name.Position, problem.UnknownName, hint, "the tool %s is not declared", name.Value))
	}}.document(d)
	return problems
}

// CheckTools reports each tool that a document uses or declares but that the app does not have. The
// argument "tools" contains the names of the app's tools.
func CheckTools(d *Document, tools []string) problem.List {
	problems := unknownTools(d, tools, "declare the tool in the app")
	for _, tool := range d.Tools {
		if !slices.Contains(tools, tool.Value) {
			problems = append(problems, problemAt(tool.Position, problem.UnknownName, "declare the tool in the app", "the tool %s is not declared", tool.Value))
		}
	}
	for i := range problems {
		problems[i].File = d.File
	}
	return problems.Sorted()
}

// steps reports references to steps that the document does not declare.
func (c checker) steps() {
	names := make([]string, len(c.d.Flow.Steps))
	for i, s := range c.d.Flow.Steps {
		names[i] = s.Value
	}
	visitor{step: func(name Name) {
		if len(c.r.problems) >= maxProblems || slices.Contains(names, name.Value) {
			return
		}
		hint := "declare the step under FLOW"
		if best := spell.Name(name.Value, names); best != "" {
			hint = "did you mean " + best + "?"
		}
		c.r.errorf(name.Position, problem.UnknownName, hint, "unknown step %s", problem.Quote(name.Value))
	}}.document(c.d)
}

// triggers warns about each name that the condition of a trigger reads but that no statement sets.
// Such a trigger never fires.
func (c checker) triggers() {
	if len(c.d.Flow.Steps) == 0 {
		return
	}
	declared := c.d.declaredFacts()
	known := c.setNames()
	for _, t := range c.d.Memory.Triggers {
		if t.When == nil {
			continue
		}
		for _, ref := range t.When.References() {
			_, isFact := declared(ref.String())
			if !isFact && !known[ref.Path[0]] && !strings.EqualFold(ref.Path[0], "now") {
				c.r.warnf(ref.Position, problem.SuspiciousRule, "set the variable in a step, or declare the variable under `session`", "nothing sets %s, so the trigger never fires", ref.Path[0])
			}
		}
	}
}
