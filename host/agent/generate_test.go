package agent_test

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"time"
)

// generator makes random agents.
type generator struct {
	*rand.Rand
	refs  []string // the names that expressions of the generated agent can read
	steps []string
}

var (
	genFacts    = []string{"user.f0", "user.f1", "user.dom.a", "project.g0", "project.tool.n"}
	genTriggers = []string{"user.t0", "user.t1", "user.f1", "user.dom.b", "project.t2"}
	genLists    = []string{"user.h0", "project.h1"}
	genTexts    = []string{"a", "b", "x7", "5", "12"}
	genInputs   = []string{"2", "5", "7", "a", "b", "", "x y", "so x then y", "a or y or b or x", "why a or x ?", "5 or 2 or a"}
	genTools    = []string{"t0", "t1"}
	genArrays   = []string{"l0", "l1"}
	genPhrases  = []string{"x y", "a", "y", "5"}
)

// genInitialArrays contains the initial values of lists.
var genInitialArrays = []any{
	nil, []any{}, []any{"b", 3.0, "a", 1.0, true},
	[]any{map[string]any{"k": 3.0, "n": "a"}, map[string]any{"k": "b", "n": 1.0}, map[string]any{"k": 3.0, "n": "c"}, map[string]any{"n": 3.0}, map[string]any{"k": "12"}, map[string]any{"k": 1.0, "n": "a"}},
}

func pick[T any](g *generator, list []T) T { return list[g.IntN(len(list))] }

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

// readable returns the names of the values that are small enough to be used in any expression.
func (g *generator) readable() []string { return slices.Concat(g.refs, genLists, genArrays) }

func (g *generator) name() *refExpr { return &refExpr{op: "ref", ref: pick(g, g.refs)} }

func (g *generator) literal() *refExpr {
	if g.chance(60) {
		return &refExpr{op: "lit", lit: float64(g.IntN(9))}
	}
	return &refExpr{op: "lit", lit: pick(g, genTexts)}
}

// expr returns an expression that computes a value. The value of an expression is at most as large
// as its operands and literals together, so values remain small.
func (g *generator) expr() *refExpr {
	switch g.IntN(13) {
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
		return &refExpr{op: "LENGTH", args: []*refExpr{{op: "ref", ref: pick(g, g.readable())}}}
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
		return &refExpr{op: pick(g, []string{"SET", "NOT SET"}), args: []*refExpr{{op: "ref", ref: pick(g, g.readable())}}}
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
	return refText{{text: "m" + strconv.Itoa(g.IntN(99)) + " "}, {ref: pick(g, g.readable())}, {text: pick(g, []string{".", ".", "?"})}}
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
		list = append(list, g.transform())
	}
	if g.chance(25) {
		list = append(list, refAction{kind: "clear", names: []string{pick(g, []string{"v0", "v1", "v2", "user.f0", "project.g0"})}})
	}
	if g.chance(50) || len(list) == 0 {
		list = append(list, refAction{kind: "respond", text: g.message()})
	}
	return list
}

// transform returns a TRANSFORM. The fields of a list item are always scalars, so lists remain
// small.
func (g *generator) transform() refAction {
	tr := &refTransform{as: pick(g, []string{"it", "it", "v0"}), into: pick(g, genArrays)}
	tr.source = &refExpr{op: "ref", ref: pick(g, []string{"l0", "l1", "l1", "user.h0", "project.h1", "call_result.items", "v1"})}
	inner := &generator{Rand: g.Rand, refs: append(slices.DeleteFunc(slices.Clone(g.refs), func(name string) bool { return name == tr.as }), tr.as+".k", tr.as+".k", tr.as+".n")}
	for _, field := range []string{"k", "n"} {
		if g.chance(35) {
			tr.fields = append(tr.fields, refSet{field, inner.expr()})
		}
	}
	inner.refs = append(inner.refs, tr.as)
	if g.chance(50) {
		tr.filter = inner.cond(1)
	}
	if g.chance(60) {
		tr.sortBy, tr.descending = pick(g, []string{"k", "n"}), g.chance(50)
	}
	if g.chance(40) {
		tr.limit = g.expr()
	}
	return refAction{kind: "transform", transform: tr}
}

// gather returns a GATHER of two fields.
func (g *generator) gather() refAction {
	a := refAction{kind: "gather", names: []string{pick(g, genVars[:3]), pick(g, []string{"v3", "user.f0"})}, types: map[string]string{}, model: g.chance(30)}
	for _, name := range a.names {
		if g.chance(20) {
			a.types[name] = "number"
		}
	}
	return a
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
	gathers := g.chance(35)
	if gathers && g.chance(40) {
		s.body.actions = append(s.body.actions, refAction{kind: "respond", text: g.message()})
	}
	if gathers {
		a := g.gather()
		if g.chance(40) {
			s.body.actions = append(s.body.actions, refAction{kind: "clear", names: a.names})
		}
		s.body.actions = append(s.body.actions, a)
	}
	for _, a := range g.simple() {
		if !slices.ContainsFunc(s.body.actions, func(other refAction) bool { return other.kind == a.kind }) { // no duplicate keys
			s.body.actions = append(s.body.actions, a)
		}
	}
	switch g.IntN(4) {
	case 0:
		a := refAction{kind: "check", cond: g.cond(1)}
		a.fail = g.body(i, g.simple())
		s.body.actions = append(s.body.actions, a)
	case 1, 2:
		s.body.actions = append(s.body.actions, g.call(i, true))
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

// call returns a CALL. If the argument "leads" is true, the actions after the call can lead to
// another step.
func (g *generator) call(step int, leads bool) refAction {
	a := refAction{kind: "call", tool: pick(g, genTools), arg: g.expr()}
	body := func() *refBody {
		if !leads {
			return &refBody{actions: g.simple()}
		}
		return g.body(step, g.simple())
	}
	if g.chance(60) {
		a.success = body()
	}
	if g.chance(70) {
		a.fail = body()
	}
	return a
}

// waits adds random intents to a step that can wait for input. It sometimes also adds
// COMPLETE_WHEN.
func (g *generator) waits(s *refStep) {
	if g.chance(40) {
		s.complete = g.cond(1)
	}
	for range g.IntN(4) {
		in := refIntent{phrase: pick(g, genPhrases), resume: g.chance(60)}
		in.body.actions = g.simple()
		if g.chance(25) {
			in.body.actions = append(in.body.actions, g.call(0, false))
		}
		if g.chance(20) || in.resume && g.chance(50) {
			in.body.then = refThen{"jump", pick(g, []string{pick(g, g.steps), g.steps[len(g.steps)-1]})}
		}
		s.intents = append(s.intents, in)
	}
	s.subIntents, s.intentModel = g.IntN(len(s.intents)+1), g.chance(25)
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

// inputs adds the branches of ON_INPUT. A step waits for input before a branch of ON_INPUT runs.
// Therefore, a branch can lead to any step without causing an endless loop.
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
		if g.chance(40) {
			f.jump = pick(g, g.steps)
		}
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

// agent returns a random agent. Agent B does not hand over to another agent.
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
	for _, name := range genArrays {
		a.vars = append(a.vars, refVar{name, "", pick(g, []string{"per_session", "per_step", "never"}), pick(g, genInitialArrays)})
	}
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
		return a
	}
	switch g.IntN(13) {
	case 0, 1, 2:
		g.excusedHandoff(a)
	case 3, 4:
		g.collectingIntent(a)
	}
	return a
}

// excusedHandoff adds a constraint on a call. The constraint is the first constraint of the agent.
// The ON_FAIL of the constraint jumps to a step that hands over to agent B. The turn skips this
// constraint in that step. Agent B has a constraint with the same index, which the turn must not
// skip. Some of the added constraints first collect a field. They jump to the step that contains
// the call.
func (g *generator) excusedHandoff(a *refAgent) {
	last := len(a.steps) - 1
	c := refConstraint{rule: pick(g, []string{"REQUIRE", "RESTRICT"}), cond: g.cond(1), before: "calling", tool: "t0", fail: refFail{respond: g.message(), jump: a.steps[last].name}}
	if g.chance(40) {
		c.fail.collect, c.fail.jump, c.cond = []string{"v0"}, a.steps[0].name, &refExpr{op: "==", args: []*refExpr{{op: "ref", ref: "v0"}, g.literal()}}
	}
	a.constraints = append([]refConstraint{c}, a.constraints...)
	a.steps[last].body = refBody{actions: []refAction{g.sets()}, then: refThen{"handoff", "B"}}
	a.steps[last].inputs, a.steps[last].intents, a.steps[last].subIntents, a.steps[last].complete = nil, nil, 0, nil
	if last > 0 {
		actions := slices.DeleteFunc(a.steps[0].body.actions, func(a refAction) bool { return a.kind == "call" || a.kind == "check" })
		a.steps[0].body.actions = append(actions, refAction{kind: "call", tool: "t0", arg: g.expr(), fail: g.body(0, g.simple())})
	}
}

// collectingIntent adds an intent that contains a call, and a constraint on this call. If the
// constraint fails, the turn leaves the intent to collect a field.
func (g *generator) collectingIntent(a *refAgent) {
	s := &a.steps[g.IntN(len(a.steps))]
	if len(s.inputs) == 0 && !slices.ContainsFunc(s.body.actions, func(a refAction) bool { return a.kind == "gather" }) {
		return
	}
	in := refIntent{phrase: "y", resume: g.chance(50), body: refBody{actions: []refAction{{kind: "call", tool: "t0", arg: g.expr(), fail: g.body(len(g.steps), g.simple())}}}}
	s.intents, s.subIntents = append([]refIntent{in}, s.intents...), s.subIntents+1
	c := refConstraint{rule: "REQUIRE", cond: &refExpr{op: "==", args: []*refExpr{{op: "ref", ref: "v3"}, g.literal()}}, before: "calling", tool: "t0", fail: refFail{collect: []string{"v3"}, retry: true}}
	if g.chance(50) {
		c.fail.retry, c.fail.jump = false, pick(g, g.steps)
	}
	a.constraints = append(a.constraints, c)
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
