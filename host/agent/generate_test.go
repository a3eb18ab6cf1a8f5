package agent_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
)

// generator makes random agents.
type generator struct {
	*rand.Rand
	refs  []string // the names that expressions of the agent can read
	steps []string
}

var (
	genFacts    = []string{"user.f0", "user.f1", "user.dom.a", "project.g0", "project.tool.n"}
	genTriggers = []string{"user.t0", "user.t1", "user.f1", "user.dom.b", "project.t2"}
	genLists    = []string{"user.h0", "project.h1"}
	genTexts    = []string{"a", "b", "x7", "5", "12"}
	genInputs   = []string{"2", "5", "7", "a", "b", "", "x y"}
	genTools    = []string{"t0", "t1"}
)

func pick[T any](g *generator, list []T) T { return list[g.IntN(len(list))] }

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

func (g *generator) name() *refExpr { return &refExpr{op: "ref", ref: pick(g, g.refs)} }

func (g *generator) literal() *refExpr {
	if g.chance(60) {
		return &refExpr{op: "lit", lit: float64(g.IntN(9))}
	}
	return &refExpr{op: "lit", lit: pick(g, genTexts)}
}

// expr returns an expression for a value. Only literals make values larger, so values remain small.
func (g *generator) expr() *refExpr {
	switch g.IntN(8) {
	case 0, 1:
		return g.literal()
	case 2, 3:
		return g.name()
	case 4, 5:
		return &refExpr{op: pick(g, []string{"+", "-"}), args: []*refExpr{g.name(), g.literal()}}
	case 6:
		return &refExpr{op: "COALESCE", args: []*refExpr{g.name(), g.name(), g.literal()}}
	}
	return g.cond(1)
}

func (g *generator) operand() *refExpr {
	switch g.IntN(6) {
	case 0:
		return &refExpr{op: "LENGTH", args: []*refExpr{{op: "ref", ref: pick(g, append(g.refs, genLists...))}}}
	case 1:
		return &refExpr{op: "+", args: []*refExpr{g.name(), g.literal()}}
	case 2:
		return g.literal()
	}
	return g.name()
}

// cond returns a condition.
func (g *generator) cond(depth int) *refExpr {
	if depth > 0 && g.chance(50) {
		if g.chance(25) {
			return &refExpr{op: "NOT", args: []*refExpr{g.cond(depth - 1)}}
		}
		return &refExpr{op: pick(g, []string{"AND", "OR", "IMPLIES"}), args: []*refExpr{g.cond(depth - 1), g.cond(depth - 1)}}
	}
	if g.chance(25) {
		return &refExpr{op: pick(g, []string{"SET", "NOT SET"}), args: []*refExpr{{op: "ref", ref: pick(g, append(g.refs, genLists...))}}}
	}
	if g.chance(15) {
		return g.name()
	}
	return &refExpr{op: pick(g, []string{"==", "!=", "<", "<=", ">", ">="}), args: []*refExpr{g.operand(), g.operand()}}
}

// replace replaces some names in an expression with another name.
func (e *refExpr) replace(g *generator, name string) {
	if e.op == "ref" && g.chance(70) {
		e.ref = name
	}
	for _, a := range e.args {
		a.replace(g, name)
	}
}

func (g *generator) message() refText {
	return refText{{text: "m" + strconv.Itoa(g.IntN(99)) + " "}, {ref: pick(g, append(g.refs, genLists...))}, {text: pick(g, []string{".", ".", "?"})}}
}

var genVars = []string{"v0", "v1", "v2", "v3"}

func (g *generator) target() string {
	switch g.IntN(6) {
	case 0:
		return pick(g, genFacts[:4])
	case 1:
		return "obj." + pick(g, []string{"a", "b"})
	}
	return pick(g, genVars)
}

func (g *generator) sets() refAction {
	a := refAction{kind: "set"}
	for range 1 + g.IntN(3) {
		a.sets = append(a.sets, refSet{g.target(), g.expr()})
	}
	return a
}

// simple returns actions that never wait.
func (g *generator) simple() []refAction {
	var list []refAction
	if g.chance(70) {
		list = append(list, g.sets())
	}
	if g.chance(25) {
		list = append(list, refAction{kind: "clear", names: []string{pick(g, []string{"v0", "v1", "v2", "user.f0", "project.g0"})}})
	}
	if g.chance(50) || len(list) == 0 {
		list = append(list, refAction{kind: "respond", text: g.message()})
	}
	return list
}

// forward returns the name of a later step, or "".
func (g *generator) forward(step int) string {
	if step+1 >= len(g.steps) {
		return ""
	}
	return g.steps[step+1+g.IntN(len(g.steps)-step-1)]
}

func (g *generator) body(step int, actions []refAction) *refBody {
	b := &refBody{actions: actions}
	if to := g.forward(step); to != "" && g.chance(40) {
		b.then = refThen{"jump", to}
	}
	return b
}

func (g *generator) step(i int) refStep {
	s := refStep{name: g.steps[i]}
	if g.chance(20) {
		s.when = g.cond(1)
	}
	if g.chance(25) {
		s.max, s.exhausted = 1+g.IntN(3), g.forward(i)
	}
	gathers := g.chance(25)
	if gathers && g.chance(40) {
		s.body.actions = append(s.body.actions, refAction{kind: "respond", text: g.message()})
	}
	if gathers {
		s.body.actions = append(s.body.actions, refAction{kind: "gather", names: []string{pick(g, genVars[:3]), pick(g, []string{"v3", "user.f0"})}})
	}
	for _, a := range g.simple() {
		if a.kind != "respond" || len(s.body.actions) == 0 || s.body.actions[0].kind != "respond" {
			s.body.actions = append(s.body.actions, a)
		}
	}
	switch g.IntN(4) {
	case 0:
		a := refAction{kind: "check", cond: g.cond(1)}
		a.fail = g.body(i, g.simple())
		s.body.actions = append(s.body.actions, a)
	case 1, 2:
		a := refAction{kind: "call", tool: pick(g, genTools), arg: g.expr()}
		if g.chance(60) {
			a.success = g.body(i, g.simple())
		}
		if g.chance(70) {
			a.fail = g.body(i, g.simple())
		}
		s.body.actions = append(s.body.actions, a)
	}
	if g.chance(40) {
		g.inputs(i, &s)
	}
	if waits := gathers || len(s.inputs) > 0; waits {
		g.waits(&s)
	}
	switch to := g.forward(i); {
	case to != "" && g.chance(60):
		s.body.then = refThen{"jump", to}
	case g.chance(40):
		s.body.then = refThen{kind: "complete"}
	case g.chance(30):
		s.body.then = refThen{"handoff", "B"}
	}
	return s
}

// The method waits adds intents and COMPLETE_WHEN to a step that can wait.
func (g *generator) waits(s *refStep) {
	if g.chance(40) {
		s.complete = g.cond(1)
	}
	for range g.IntN(3) {
		in := refIntent{phrase: pick(g, []string{"x y", "a", "y", "5"}), resume: g.chance(50)}
		in.body.actions = g.simple()
		if !in.resume && g.chance(30) {
			in.body.then = refThen{"jump", pick(g, g.steps)}
		}
		s.intents = append(s.intents, in)
	}
}

func (g *generator) hook() refHook {
	h := refHook{name: pick(g, []string{"before_turn", "after_turn"}), critical: g.chance(15), actions: []refAction{g.sets()}}
	if g.chance(40) {
		h.actions = append(h.actions, refAction{kind: "respond", text: g.message()})
	}
	if g.chance(70) {
		h.actions = append(h.actions, refAction{kind: "call", tool: pick(g, genTools), arg: g.expr()})
	}
	return h
}

// inputs adds the branches of ON_INPUT. A branch can lead to any step, because the step waits for
// input before it runs a branch.
func (g *generator) inputs(i int, s *refStep) {
	for n := g.IntN(3); n >= 0; n-- {
		b := refBranch{cond: &refExpr{op: "==", args: []*refExpr{{op: "ref", ref: "input"}, {op: "lit", lit: pick(g, []string{"a", "b", "x y"})}}}}
		if n == 0 && g.chance(60) {
			b.cond = nil
		}
		b.body.actions = g.simple()
		if g.chance(20) {
			b.body.actions = append(b.body.actions, refAction{kind: "call", tool: pick(g, genTools), arg: g.expr()})
		}
		switch g.IntN(4) {
		case 0:
			b.body.then = refThen{"jump", pick(g, g.steps)}
		case 1:
			b.body.then = refThen{"handoff", "B"}
		}
		s.inputs = append(s.inputs, b)
	}
}

func (g *generator) fail() refFail {
	f := refFail{respond: g.message()}
	switch g.IntN(9) {
	case 0:
		f.handoff, f.respond = "B", nil
	case 1:
		f.escalate, f.respond = true, nil
	case 2:
		f.stop, f.respond = true, nil
	case 3, 4:
		f.collect = []string{pick(g, []string{"v0", "v1", "v3"})}
		if g.chance(40) {
			f.collect = append(f.collect, "v2")
		}
		f.then = pick(g, []string{"", "continue", "retry"})
		if g.chance(30) {
			f.respond = nil
		}
	case 5:
		f.jump = pick(g, g.steps)
	case 6:
		f.retry = true
	}
	return f
}

func (g *generator) constraint() refConstraint {
	c := refConstraint{rule: pick(g, []string{"REQUIRE", "LIMIT", "RESTRICT", "RESTRICT", "WARN"}), cond: g.cond(2), before: pick(g, []string{"step", "calling", "returning"})}
	if c.rule == "LIMIT" {
		c.cond = &refExpr{op: pick(g, []string{"<", "<="}), args: []*refExpr{g.operand(), g.operand()}}
	}
	if g.chance(40) {
		c.when = g.cond(1)
	}
	if c.before == "calling" {
		c.tool = pick(g, genTools)
		if g.chance(50) {
			c.cond.replace(g, "x")
		}
	}
	if c.fail = g.fail(); c.rule == "WARN" {
		c.fail = refFail{respond: g.message()}
	}
	return c
}

func (g *generator) trigger() refTrigger {
	t := refTrigger{when: g.cond(1), value: g.expr(), target: pick(g, genTriggers)}
	if g.chance(40) {
		t.ttl = time.Duration(1+g.IntN(3)) * time.Hour
	}
	if g.chance(35) {
		t.target, t.appends, t.unique = pick(g, genLists), true, g.chance(50)
		if g.chance(70) {
			t.max = 1 + g.IntN(3)
		}
	}
	return t
}

func (g *generator) recall() refRecall {
	r := refRecall{event: pick(g, []string{"session:start", "session:start", "step:enter:*", "step:exit:s1", "tool:t0:after", "tool:*:after", "agent:A:before", "agent:*:after", "entity:v1:extracted"})}
	switch g.IntN(3) {
	case 0:
		r.prompt = "Instruction " + strconv.Itoa(g.IntN(9))
	case 1:
		r.domain = "dom"
	default:
		r.paths = []string{pick(g, genFacts), pick(g, genTriggers)}
		if r.paths[0] == r.paths[1] {
			r.paths = r.paths[:1]
		}
	}
	return r
}

// agent returns a random agent. Agent B does not hand over.
func (g *generator) agent(name string) *refAgent {
	a := &refAgent{name: name, facts: map[string]any{}}
	g.refs = append([]string{"input", "call_result.n", "call_result.x", "call_error.code", "obj.a"}, genVars...)
	for i, v := range genVars {
		typ := ""
		if i == 1 {
			typ = "number"
		}
		a.vars = append(a.vars, refVar{v, typ, pick(g, []string{"per_session", "per_session", "per_step", "per_activation", "never"}), pick(g, []any{nil, 3.0, 0.0, "a"})})
		if i == 1 && a.vars[i].initial == any("a") {
			a.vars[i].initial = 1.0
		}
	}
	a.vars = append(a.vars, refVar{name: "obj", reset: "per_session"})
	for _, path := range genFacts {
		a.facts[path] = pick(g, []any{nil, nil, 4.0, "a"})
	}
	g.refs = append(append(g.refs, genFacts...), genTriggers...)
	for range 1 + g.IntN(4) {
		g.steps = append(g.steps, "s"+strconv.Itoa(len(g.steps)))
	}
	for range g.IntN(4) {
		a.triggers = append(a.triggers, g.trigger())
	}
	for range g.IntN(4) {
		a.recalls = append(a.recalls, g.recall())
	}
	for range g.IntN(4) {
		a.constraints = append(a.constraints, g.constraint())
	}
	if g.chance(50) {
		a.start = g.simple()
	}
	if g.chance(30) {
		a.hooks = append(a.hooks, g.hook())
	}
	for i := range g.steps {
		a.steps = append(a.steps, g.step(i))
	}
	if name == "B" {
		a.dropHandoffs()
	}
	return a
}

func (a *refAgent) dropHandoffs() {
	for i := range a.constraints {
		if f := &a.constraints[i].fail; f.handoff != "" {
			*f = refFail{stop: true}
		}
	}
	for i := range a.steps {
		if then := &a.steps[i].body.then; then.kind == "handoff" {
			*then = refThen{kind: "complete"}
		}
		for j := range a.steps[i].inputs {
			if then := &a.steps[i].inputs[j].body.then; then.kind == "handoff" {
				*then = refThen{kind: "complete"}
			}
		}
	}
}

// printer writes agents as files.
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
		case "gather":
			p.line(depth, "GATHER:")
			for _, name := range a.names {
				p.line(depth+1, "- %s: required", name)
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
	if len(s.intents) > 0 {
		p.line(2, "SUB_INTENTS:")
	}
	for _, in := range s.intents {
		p.line(3, "- INTENT: %q", in.phrase)
		if in.resume {
			p.line(4, "RESUME: true")
		}
		p.actions(4, in.body.actions)
		p.then(4, in.body.then)
	}
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

// source returns an agent as a file.
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
