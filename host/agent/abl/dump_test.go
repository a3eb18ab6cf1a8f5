package abl_test

import (
	"fmt"
	"strings"

	"github.com/toolrun/toolrun/host/agent/abl"
)

// dumper writes a parsed document. Each declaration is one line, which contains the position of the
// declaration.
type dumper struct{ strings.Builder }

func dump(d *abl.Document) string {
	w := &dumper{}
	if d.Agent.Value != "" {
		w.line(d.Agent.Position, "agent %s goal %q strict %v", d.Agent.Value, d.Goal.Value, d.StrictTypes)
	}
	w.memory(d.Memory)
	for _, c := range d.Constraints {
		w.constraint(c)
	}
	if d.Flow.Entry.Value != "" {
		w.line(d.Flow.Entry.Position, "entry %s", d.Flow.Entry.Value)
	}
	for _, s := range d.Flow.Steps {
		w.step(s)
	}
	if d.OnStart != nil {
		w.body("on_start", d.OnStart)
	}
	for _, h := range d.Hooks {
		w.line(h.Name.Position, "hook %s critical %v", h.Value, h.Critical)
		w.body("hook", &h.Body)
	}
	for _, tool := range d.Tools {
		w.line(tool.Position, "tool %s", tool.Value)
	}
	for _, h := range d.Handoffs {
		w.line(h.Agent.Position, "handoff %s%s", h.Agent.Value, optional(" when ", h.When))
	}
	if d.Body != nil {
		w.body("part", d.Body)
	}
	if d.OnFail != nil {
		w.line(d.OnFail.Position, "on_fail%s", onFail(*d.OnFail))
	}
	for _, name := range d.Unsupported {
		w.line(name.Position, "unsupported %s", name.Value)
	}
	return w.String()
}

func (w *dumper) line(at abl.Position, format string, args ...any) {
	fmt.Fprintf(w, "%s %s\n", at, fmt.Sprintf(format, args...))
}

func optional[T interface {
	comparable
	fmt.Stringer
}](label string, x T) string {
	var none T
	if x == none {
		return ""
	}
	return label + x.String()
}

func names(list []abl.Name) string {
	var texts []string
	for _, name := range list {
		texts = append(texts, name.Value)
	}
	return strings.Join(texts, " ")
}

func (w *dumper) memory(m abl.Memory) {
	for _, v := range m.Session {
		w.line(v.Position, "session %s type %q initial %v reset %s description %q%s", v.Value, v.Type, v.Initial, v.Reset, v.Description, sensitive(v.Sensitive))
	}
	for _, f := range m.Persistent {
		w.line(f.Position, "fact %s scope %s access %s type %q unit %q default %v domain %q description %q%s",
			f.Value, f.Scope, f.Access, f.Type, f.Unit, f.Default, f.Domain, f.Description, sensitive(f.Sensitive))
	}
	for _, t := range m.Triggers {
		w.line(t.Position, "trigger%s store %s -> %s %s unique %v max %d ttl %s domain %q", optional(" when ", t.When), t.Value, t.Target.Value, t.Operation, t.Unique, t.MaxSize, t.TTL, t.Domain)
	}
	for _, c := range m.Recalls {
		w.line(c.Position, "recall %s %q %s action %s paths [%s] domain %q instruction %q",
			c.Event.Kind, c.Event.Name, c.Event.Moment, c.Action, names(c.Paths), c.Domain, c.Instruction)
	}
}

func sensitive(s *abl.Sensitive) string {
	if s == nil {
		return ""
	}
	return fmt.Sprintf(" sensitive %s %d %d %q", s.Display, s.Mask.ShowFirst, s.Mask.ShowLast, s.Mask.Char)
}

func (w *dumper) constraint(c abl.Constraint) {
	before := c.Before
	if c.Tool.Value != "" {
		before += " " + c.Tool.Value
	}
	if c.Inert() {
		before = "inert"
	}
	w.line(c.Position, "constraint phase %q %s %s: %s%s before %q on_fail%s", c.Phase, c.Rule, c.Severity, c.Condition, optional(" when ", c.When), before, onFail(c.OnFail))
}

func onFail(f abl.OnFail) string {
	var b strings.Builder
	if f.Respond != nil {
		fmt.Fprintf(&b, " respond %q", f.Respond.String())
	}
	for label, set := range map[string]bool{" handoff " + f.Handoff.Value: f.Handoff.Value != ""} {
		if set {
			b.WriteString(label)
		}
	}
	if f.Escalate {
		b.WriteString(" escalate")
	}
	if f.Block {
		b.WriteString(" block")
	}
	if len(f.Collect) > 0 {
		fmt.Fprintf(&b, " collect [%s]", names(f.Collect))
	}
	if f.Goto.Value != "" {
		b.WriteString(" goto " + f.Goto.Value)
	}
	if f.Retry {
		b.WriteString(" retry")
	}
	if f.Then != "" {
		b.WriteString(" then " + f.Then)
	}
	return b.String()
}

func (w *dumper) step(s abl.Step) {
	reasoning := "unset"
	if s.Reasoning != nil {
		reasoning = fmt.Sprint(*s.Reasoning)
	}
	w.line(s.Name.Position, "step %s reasoning %s%s%s%s goal %q tools [%s] turns %d model %q attempts %d %s", s.Value, reasoning, optional(" when ", s.When),
		optional(" complete_when ", s.CompleteWhen), optional(" exit_when ", s.ExitWhen), s.Goal.Value, names(s.AvailableTools), s.MaxTurns, s.Model, s.MaxAttempts, s.OnExhausted.Value)
	if s.Gather != nil {
		w.line(s.Gather.Position, "gather%s model %q", optional(" prompt ", s.Gather.Prompt), s.Gather.Model)
		for _, f := range s.Gather.Fields {
			w.line(f.Position, "field %s required %v type %q default %v%s", f.Value, f.Required, f.Type, f.Default, optional(" prompt ", f.Prompt))
		}
	}
	w.body("step", &s.Body)
	for _, b := range s.OnInput {
		w.line(b.Position, "on_input%s", optional(" if ", b.If))
		w.body("branch", &b.Body)
	}
	for _, list := range [][]abl.SubIntent{s.SubIntents, s.Digressions} {
		for _, in := range list {
			w.line(in.Position, "intent %q resume %v model %q", in.Intent, in.Resume, s.IntentModel)
			w.body("intent", &in.Body)
		}
	}
}

func (w *dumper) body(owner string, b *abl.Body) {
	for _, a := range b.Actions {
		w.action(owner, a)
	}
	if b.Then.Kind != "" {
		w.line(b.Then.Position, "%s then %s %s", owner, b.Then.Kind, b.Then.Value)
	}
}

func (w *dumper) action(owner string, a abl.Action) {
	switch a.Kind {
	case abl.KindSet:
		for _, s := range a.Set {
			w.line(s.Target.Position, "%s set %s = %s @%s", owner, s.Target.Value, s.Value, s.Value.Position())
			for _, index := range s.Indexes {
				w.line(index.Value.Position(), "%s index %d = %s", owner, index.Name, index.Value)
			}
		}
	case abl.KindClear:
		w.line(a.Position, "%s clear [%s]", owner, names(a.Clear))
	case abl.KindRespond:
		w.line(a.Position, "%s respond %q", owner, a.Respond.String())
	case abl.KindCheck:
		w.line(a.Position, "%s check %s", owner, a.Check)
	case abl.KindGather:
		w.line(a.Position, "%s gathers", owner)
	case abl.KindCall:
		w.line(a.Position, "%s call %s as %q", owner, a.Call.Tool.Value, a.Call.As.Value)
		for _, arg := range a.Call.Args {
			w.line(arg.Target.Position, "%s arg %s = %s", owner, arg.Target.Value, arg.Value)
		}
	case abl.KindTransform:
		t := a.Transform
		w.line(a.Position, "%s transform %s as %s into %s%s sort %q desc %v%s", owner, t.Source, t.As.Value, t.Into.Value,
			optional(" filter ", t.Filter), t.SortBy.Value, t.Descending, optional(" limit ", t.Limit))
		for _, m := range t.Map {
			w.line(m.Target.Position, "%s map %s = %s", owner, m.Target.Value, m.Value)
		}
	}
	if a.OnSuccess != nil {
		w.body(owner+" success", a.OnSuccess)
	}
	if a.OnFail != nil {
		w.body(owner+" failure", a.OnFail)
	}
}
