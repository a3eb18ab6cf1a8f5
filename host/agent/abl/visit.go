package abl

import "slices"

// visitor contains one function for each kind of part of a document. A function that is nil is not
// called.
type visitor struct {
	expr     func(*Expr)
	template func(*Template)
	target   func(Target)
	write    func(Name) // called for the targets of SET, CLEAR, INTO, AS and GATHER
	item     func(Name) // called for the item names of TRANSFORM
	tool     func(Name)
	call     func(*Call)
	set      func(Assignment) // of SET
	step     func(Name)       // called for the steps in GOTO and ON_EXHAUSTED, and the entry point
	agent    func(Name)       // HANDOFF
}

// ToolNames returns the sorted names of the tools that the document declares or calls.
func (d *Document) ToolNames() []string {
	var names []string
	visitor{tool: func(name Name) { names = append(names, name.Value) }}.document(d)
	for _, name := range d.Tools {
		names = append(names, name.Value)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func visit[T any](call func(T), value T) {
	if call != nil {
		call(value)
	}
}

func (v visitor) exprs(list ...*Expr) {
	for _, x := range list {
		if x != nil {
			visit(v.expr, x)
		}
	}
}

func (v visitor) templates(list ...*Template) {
	for _, t := range list {
		if t != nil {
			visit(v.template, t)
		}
	}
}

func named(call func(Name), name Name) {
	if name.Value != "" {
		visit(call, name)
	}
}

func (v visitor) document(d *Document) {
	for _, t := range d.Memory.Triggers {
		v.exprs(t.When, t.Value)
	}
	for _, c := range d.Constraints {
		v.exprs(c.Condition, c.When)
		named(v.tool, c.Tool)
		v.onFail(c.OnFail)
	}
	named(v.step, d.Flow.Entry)
	for i := range d.Flow.Steps {
		v.flowStep(&d.Flow.Steps[i])
	}
	for _, b := range []*Body{d.OnStart, d.Body} {
		if b != nil {
			v.body(*b)
		}
	}
	for _, h := range d.Hooks {
		v.body(h.Body)
	}
	for _, h := range d.Handoffs {
		named(v.agent, h.Agent)
		v.exprs(h.When)
	}
	if d.OnFail != nil {
		v.onFail(*d.OnFail)
	}
}

func (v visitor) onFail(f OnFail) {
	v.templates(f.Respond)
	named(v.step, f.Goto)
	named(v.agent, f.Handoff)
}

func (v visitor) flowStep(s *Step) {
	v.exprs(s.When, s.CompleteWhen, s.ExitWhen)
	named(v.step, s.OnExhausted)
	for _, tool := range s.AvailableTools {
		named(v.tool, tool)
	}
	if s.Gather != nil {
		v.templates(s.Gather.Prompt)
		for _, f := range s.Gather.Fields {
			named(v.write, f.Name)
			v.templates(f.Prompt)
		}
	}
	v.body(s.Body)
	for _, b := range s.OnInput {
		v.exprs(b.If)
		v.body(b.Body)
	}
	for _, intents := range [][]SubIntent{s.SubIntents, s.Digressions} {
		for _, in := range intents {
			v.body(in.Body)
		}
	}
}

func (v visitor) body(b Body) {
	for _, a := range b.Actions {
		v.action(a)
	}
	v.then(b.Then)
}

func (v visitor) then(t Target) {
	switch t.Kind {
	case TargetStep:
		named(v.step, t.Name)
	case TargetHandoff:
		named(v.agent, t.Name)
	}
	if t.Kind != "" {
		visit(v.target, t)
	}
}

func (v visitor) action(a Action) {
	for _, s := range a.Set {
		visit(v.set, s)
		named(v.write, s.Target)
		v.exprs(s.Value)
		for _, index := range s.Indexes {
			v.exprs(index.Value)
		}
	}
	for _, name := range a.Clear {
		named(v.write, name)
	}
	v.templates(a.Respond)
	v.exprs(a.Check)
	if a.Call != nil {
		visit(v.call, a.Call)
		named(v.tool, a.Call.Tool)
		named(v.write, a.Call.As)
		for _, arg := range a.Call.Args {
			v.exprs(arg.Value)
		}
	}
	if a.Transform != nil {
		v.transform(a.Transform)
	}
	for _, b := range []*Body{a.OnSuccess, a.OnFail} {
		if b != nil {
			v.body(*b)
		}
	}
}

func (v visitor) transform(t *Transform) {
	v.exprs(t.Source, t.Filter, t.Limit)
	named(v.item, t.As)
	named(v.write, t.Into)
	for _, m := range t.Map {
		v.exprs(m.Value)
	}
}
