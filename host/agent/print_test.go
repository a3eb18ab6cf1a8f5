package agent_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// printer writes generated agents as files.
type printer struct{ strings.Builder }

func (p *printer) line(depth int, format string, args ...any) {
	p.WriteString(strings.Repeat("  ", depth))
	fmt.Fprintf(p, format, args...)
	p.WriteByte('\n')
}

func (e *refExpr) String() string {
	switch e.op {
	case "lit":
		if s, ok := e.lit.(string); ok {
			return strconv.Quote(s)
		}
		return refString(e.lit)
	case "ref":
		return e.ref
	case "NOT":
		return "NOT (" + e.args[0].String() + ")"
	case "SET", "NOT SET":
		return "(" + e.args[0].String() + " IS " + e.op + ")"
	case "COALESCE", "LENGTH":
		args := make([]string, len(e.args))
		for i, a := range e.args {
			args[i] = a.String()
		}
		return e.op + "(" + strings.Join(args, ", ") + ")"
	}
	return "(" + e.args[0].String() + " " + e.op + " " + e.args[1].String() + ")"
}

func (t refText) String() string {
	var b strings.Builder
	for _, piece := range t {
		b.WriteString(piece.text)
		if piece.ref != "" {
			b.WriteString("{{" + piece.ref + "}}")
		}
	}
	return strconv.Quote(b.String())
}

func (p *printer) actions(depth int, list []refAction) {
	for _, a := range list {
		switch a.kind {
		case "set":
			p.line(depth, "SET:")
			for _, s := range a.sets {
				p.line(depth+1, "- %s = %s", s.target, s.value)
			}
		case "clear":
			p.line(depth, "CLEAR: [%s]", strings.Join(a.names, ", "))
		case "respond":
			p.line(depth, "RESPOND: %s", a.text)
		case "transform":
			p.transform(depth, a.transform)
		case "gather":
			p.line(depth, "GATHER:")
			if a.model {
				p.line(depth+1, "MODEL: m")
			}
			for _, name := range a.names {
				p.line(depth+1, "- %s: required", name)
				if a.types[name] != "" {
					p.line(depth+2, "TYPE: %s", a.types[name])
				}
			}
		case "check":
			p.line(depth, "CHECK: %s", a.cond)
			p.body(depth, "ON_FAIL", a.fail)
		case "call":
			p.line(depth, "CALL: %s(x: %s)", a.tool, a.arg)
			p.body(depth, "ON_SUCCESS", a.success)
			p.body(depth, "ON_FAIL", a.fail)
		}
	}
}

func (p *printer) transform(depth int, tr *refTransform) {
	p.line(depth, "TRANSFORM:")
	p.line(depth+1, "SOURCE: %s AS %s", tr.source, tr.as)
	p.line(depth+1, "INTO: %s", tr.into)
	if tr.filter != nil {
		p.line(depth+1, "FILTER: %s", tr.filter)
	}
	if len(tr.fields) > 0 {
		p.line(depth+1, "MAP:")
	}
	for _, f := range tr.fields {
		p.line(depth+2, "%s: %s", f.target, f.value)
	}
	if tr.sortBy != "" {
		p.line(depth+1, "SORT_BY: %s %s", tr.sortBy, map[bool]string{false: "asc", true: "desc"}[tr.descending])
	}
	if tr.limit != nil {
		p.line(depth+1, "LIMIT: %s", tr.limit)
	}
}

func (p *printer) intents(key string, intents []refIntent, model bool) {
	if len(intents) == 0 {
		return
	}
	p.line(2, "%s:", key)
	if model {
		p.line(3, "MODEL: m")
	}
	for _, in := range intents {
		p.line(3, "- INTENT: %q", in.phrase)
		if in.resume {
			p.line(4, "RESUME: true")
		}
		p.actions(4, in.body.actions)
		p.then(4, in.body.then)
	}
}

func (p *printer) body(depth int, key string, b *refBody) {
	if b == nil {
		return
	}
	p.line(depth, "%s:", key)
	p.actions(depth+1, b.actions)
	p.then(depth+1, b.then)
}

func (p *printer) then(depth int, t refThen) {
	switch t.kind {
	case "jump":
		p.line(depth, "THEN: %s", t.target)
	case "complete":
		p.line(depth, "THEN: COMPLETE")
	case "handoff":
		p.line(depth, "THEN: HANDOFF %s", t.target)
	}
}

func (p *printer) step(s refStep) {
	p.line(1, "%s:", s.name)
	p.line(2, "REASONING: false")
	if s.when != nil {
		p.line(2, "WHEN: %s", s.when)
	}
	if s.max > 0 {
		p.line(2, "MAX_ATTEMPTS: %d", s.max)
	}
	if s.exhausted != "" {
		p.line(2, "ON_EXHAUSTED: %s", s.exhausted)
	}
	if s.complete != nil {
		p.line(2, "COMPLETE_WHEN: %s", s.complete)
	}
	p.actions(2, s.body.actions)
	p.intents("SUB_INTENTS", s.intents[:s.subIntents], s.intentModel)
	p.intents("DIGRESSION", s.intents[s.subIntents:], s.intentModel)
	if len(s.inputs) > 0 {
		p.line(2, "ON_INPUT:")
	}
	for _, b := range s.inputs {
		if b.cond == nil {
			p.line(3, "- ELSE:")
		} else {
			p.line(3, "- IF: %s", b.cond)
		}
		p.actions(4, b.body.actions)
		p.then(4, b.body.then)
	}
	p.then(2, s.body.then)
}

func (p *printer) constraint(c refConstraint) {
	before := map[string]string{"step": "", "calling": " BEFORE calling " + c.tool, "returning": " BEFORE returning results"}[c.before]
	p.line(2, "- %s %s%s", c.rule, c.cond, before)
	if c.when != nil {
		p.line(3, "WHEN: %s", c.when)
	}
	f := c.fail
	if f.stop {
		p.line(3, "ON_FAIL: BLOCK")
		return
	}
	p.line(3, "ON_FAIL:")
	if f.respond != nil {
		p.line(4, "RESPOND: %s", f.respond)
	}
	for key, value := range map[string]string{"HANDOFF": f.handoff, "GOTO": f.jump, "THEN": f.then} {
		if value != "" {
			p.line(4, "%s: %s", key, value)
		}
	}
	if f.escalate {
		p.line(4, "ESCALATE: true")
	}
	if f.retry {
		p.line(4, "RETRY: true")
	}
	if len(f.collect) > 0 {
		p.line(4, "COLLECT: [%s]", strings.Join(f.collect, ", "))
	}
}

func (p *printer) memory(a *refAgent) {
	p.line(0, "MEMORY:")
	p.line(1, "session:")
	for _, v := range a.vars {
		p.line(2, "- %s", v.name)
		p.line(3, "RESET: %s", v.reset)
		if v.typ != "" {
			p.line(3, "TYPE: %s", v.typ)
		}
		p.sensitive(a, v.name)
		if v.initial != nil {
			p.line(3, "INITIAL: %s", &refExpr{op: "lit", lit: v.initial})
		}
	}
	p.line(1, "persistent:")
	for _, path := range genFacts {
		p.line(2, "- %s", path)
		p.sensitive(a, path)
		if standard := a.facts[path]; standard != nil {
			p.line(3, "DEFAULT: %s", &refExpr{op: "lit", lit: standard})
		}
	}
	if len(a.triggers) > 0 {
		p.line(1, "remember:")
	}
	for _, t := range a.triggers {
		p.trigger(t)
	}
	if len(a.recalls) > 0 {
		p.line(1, "recall:")
	}
	for _, r := range a.recalls {
		p.line(2, "- ON: %s", r.event)
		switch {
		case r.prompt != "":
			p.line(3, "INSTRUCTION: %q", r.prompt)
		case r.domain != "":
			p.line(3, "ACTION: load_memory")
			p.line(3, "DOMAIN: %q", r.domain)
		default:
			p.line(3, "ACTION: inject_context")
			p.line(3, "PATHS: [%s]", strings.Join(r.paths, ", "))
		}
	}
}

func (p *printer) sensitive(a *refAgent, name string) {
	if slices.Contains(a.sensitive, name) {
		p.line(3, "SENSITIVE: true")
	}
}

func (p *printer) trigger(t refTrigger) {
	p.line(2, "- WHEN: %s", t.when)
	if t.appends {
		p.line(3, "STORE:")
		p.line(4, "value: %s", t.value)
		p.line(4, "target: %s", t.target)
		p.line(4, "operation: append")
		if t.unique {
			p.line(4, "unique: true")
		}
		if t.max > 0 {
			p.line(4, "maxSize: %d", t.max)
		}
	} else {
		p.line(3, "STORE: %s -> %s", t.value, t.target)
	}
	if t.ttl > 0 {
		p.line(3, "TTL: \"%dh\"", t.ttl/time.Hour)
	}
}

// source returns the file of an agent as a text.
func (a *refAgent) source() string {
	p := &printer{}
	p.line(0, "AGENT: %s", a.name)
	p.line(0, "GOAL: \"g\"")
	p.memory(a)
	if len(a.constraints) > 0 {
		p.line(0, "CONSTRAINTS:")
		p.line(1, "rules:")
	}
	for _, c := range a.constraints {
		p.constraint(c)
	}
	if len(a.start) > 0 {
		p.line(0, "ON_START:")
		p.actions(1, a.start)
	}
	if len(a.hooks) > 0 {
		p.line(0, "HOOKS:")
	}
	for _, h := range a.hooks {
		p.line(1, "%s:", h.name)
		if h.critical {
			p.line(2, "critical: true")
		}
		p.actions(2, h.actions)
	}
	p.line(0, "FLOW:")
	for _, s := range a.steps {
		p.step(s)
	}
	return p.String()
}
