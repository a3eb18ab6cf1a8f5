package agent_test

import (
	"maps"
	"slices"
	"strings"
)

// signal determines what the turn does after an action or a step. If the kind is empty, the next
// action or step runs.
type signal struct {
	kind, target string
	excused      int // 0, or 1 plus the index of the constraint that the next step skips
}

// perform executes the turn. It returns the reason for a failure, or "" if the turn succeeds.
func (t *refTurn) perform(name string) (failed string) {
	defer func() {
		if f, ok := recover().(refFailure); ok {
			failed = f.reason
		} else if r := recover(); r != nil {
			panic(r)
		}
	}()
	t.excused, t.retries, t.touched = -1, map[string]int{}, map[string]bool{}
	t.out.injected = map[string]any{}
	t.join(name)
	if t.st.vars == nil || t.session.active != name {
		t.activate()
	}
	t.unread = t.message != nil
	t.hook("before_turn")
	t.converse()
	t.out.agent = t.a.name
	for _, name := range t.joined {
		t.join(name)
		t.fireTriggers()
	}
	t.join(t.out.agent)
	t.out.step = t.st.step
	if t.st.wait != nil {
		t.out.collecting = t.st.wait.field
	}
	return ""
}

// join selects the active agent.
func (t *refTurn) join(name string) {
	t.a = t.agents[name]
	if t.session.agents[name] == nil {
		t.session.agents[name] = &refState{stored: map[int]string{}}
	}
	t.st = t.session.agents[name]
	if !slices.Contains(t.joined, name) {
		t.joined = append(t.joined, name)
	}
	key := t.user + "/" + name
	t.kept = t.w.kept[key]
	if t.kept == nil {
		t.kept = map[string]any{}
		for _, v := range t.a.vars {
			if v.reset == "never" {
				t.kept[v.name] = v.initial
			}
		}
		t.w.kept[key] = t.kept
	}
}

func (t *refTurn) activate() {
	t.session.active = t.a.name
	fresh := t.st.vars == nil
	if fresh {
		t.st.vars = map[string]any{}
	}
	for _, v := range t.a.vars {
		if v.reset != "never" && (fresh || v.reset == "per_activation") {
			t.st.vars[v.name] = v.initial
		}
	}
	if fresh {
		t.fire("session:start")
		t.actions(t.a.start, 0, -1)
	}
}

func (t *refTurn) converse() {
	s := signal{}
	for {
		if s.kind == "jump" {
			t.excused = s.excused - 1
			if t.st.step == "" {
				t.entry = s.target
			} else {
				t.move(s.target)
			}
		}
		s = t.run()
		if !t.closed && s.kind != "handoff" {
			t.closed = true
			t.hook("after_turn")
		}
		if slices.Contains(t.results[t.from:], true) {
			if checked := t.check("returning", ""); checked.kind != "" {
				s = checked
			}
		}
		switch s.kind {
		case "jump":
		case "handoff":
			t.out.handoff = s.target
			if t.moves++; t.moves > 8 {
				t.die("handoffs")
			}
			t.join(s.target)
			if t.excused >= 0 {
				t.seen["excused handoffs"]++
			}
			t.excused = -1
			t.from = len(t.out.messages)
			t.activate()
			s = signal{}
		default:
			t.out.done = s.kind == "complete"
			t.out.escalate = s.kind == "escalate"
			return
		}
	}
}

func (t *refTurn) find(step string) int {
	return slices.IndexFunc(t.a.steps, func(s refStep) bool { return s.name == step })
}

func (t *refTurn) move(step string) { t.st.step, t.st.wait = step, nil }

// run runs steps until a step waits or stops, or until the flow ends.
func (t *refTurn) run() signal {
	if t.find(t.st.step) < 0 {
		first := t.a.steps[0].name
		if t.entry != "" {
			first = t.entry
		}
		t.entry = ""
		t.move(first)
		t.st.attempts, t.st.returns = map[string]int{}, nil
		t.fire("agent:" + t.a.name + ":before")
	}
	for {
		i := t.find(t.st.step)
		step := &t.a.steps[i]
		t.inStep, t.running = len(t.out.messages), true
		s := t.step(step)
		t.running = false
		switch s.kind {
		case "wait":
			return s
		case "halt":
			t.st.wait = nil
			return s
		case "again":
			t.st.wait = nil
			t.excused = s.excused - 1
			continue
		}
		t.fire("step:exit:" + step.name)
		if s.kind == "" {
			s = signal{kind: step.body.then.kind, target: step.body.then.target}
		}
		if s.kind == "" && i+1 < len(t.a.steps) {
			s = signal{kind: "jump", target: t.a.steps[i+1].name}
		} else if s.kind == "" {
			s = signal{kind: "complete"}
		}
		if last := len(t.st.returns) - 1; s.kind == "complete" && last >= 0 {
			r := t.st.returns[last]
			t.st.returns = t.st.returns[:last]
			t.st.step, t.st.wait = r.step, r.wait
			t.seen["returns"]++
			t.repeat(&t.a.steps[t.find(r.step)])
			return signal{kind: "wait"}
		}
		if s.kind != "jump" {
			t.move("")
			t.fire("agent:" + t.a.name + ":after")
			return s
		}
		t.move(s.target)
		t.excused = s.excused - 1
	}
}

func (t *refTurn) step(step *refStep) signal {
	if t.st.wait != nil {
		return t.resume(step)
	}
	if t.steps++; t.steps > 100 {
		t.die("steps")
	}
	if step.when != nil && !refTrue(t.eval(step.when)) {
		return signal{}
	}
	for _, v := range t.a.vars {
		if v.reset == "per_step" {
			t.st.vars[v.name] = v.initial
		}
	}
	t.fire("step:enter:" + step.name)
	if s := t.check("step", ""); s.kind != "" {
		return s
	}
	if s := t.attempt(step); s.kind != "" {
		return s
	}
	return t.main(step, 0)
}

// attempt counts an attempt of a step.
func (t *refTurn) attempt(step *refStep) signal {
	if step.max == 0 {
		return signal{}
	}
	if t.st.attempts[step.name]++; t.st.attempts[step.name] <= step.max {
		return signal{}
	}
	delete(t.st.attempts, step.name)
	if step.exhausted == "" {
		return signal{kind: "escalate"}
	}
	return signal{kind: "jump", target: step.exhausted}
}

// hook runs all hooks that have a given name. If a hook fails, its changes are undone.
func (t *refTurn) hook(name string) {
	for _, h := range t.a.hooks {
		if h.name == name {
			t.runHook(h)
		}
	}
}

func (t *refTurn) runHook(h refHook) {
	if t.nested++; t.nested > 64 {
		t.die("nested runs")
	}
	facts, vars, kept, injected := maps.Clone(t.w.facts), maps.Clone(t.st.vars), maps.Clone(t.kept), maps.Clone(t.session.injected)
	result, failure, before := t.result, t.failure, t.out
	before.injected = maps.Clone(t.out.injected)
	if t.hookSucceeds(h) {
		return
	}
	t.w.facts, t.st.vars, t.session.injected = facts, vars, injected
	t.kept = kept
	t.w.kept[t.user+"/"+t.a.name] = kept
	t.result, t.failure, t.out = result, failure, before
	t.results = t.results[:len(before.messages)]
}

// hookSucceeds runs a hook. If a tool or a constraint in a hook fails, the hook ends. If the hook
// is critical, the failure also ends the turn.
func (t *refTurn) hookSucceeds(h refHook) (ok bool) {
	blocked := t.out.blocked
	t.out.blocked = false
	defer func() {
		r := recover()
		if f, isFailure := r.(refFailure); r != nil && (!isFailure || h.critical || f.reason == string(lost)) {
			panic(r)
		}
		ok = r == nil
		t.out.blocked = blocked
	}()
	t.actions(h.actions, 0, -1)
	if t.out.blocked {
		t.die("a constraint stops the hook")
	}
	return true
}

// gather asks for the first field that has no value. If all fields have a value, the step
// continues. An argument determines when the standard question is sent: always, never, or only if
// the last message is not a question.
func (t *refTurn) gather(a *refAction, always, never bool) signal {
	step := &t.a.steps[t.find(t.st.step)]
	if !t.extract(step, a) {
		if s := t.attempt(step); s.kind != "" {
			return s
		}
	}
	next := ""
	for _, field := range a.names {
		if next == "" && t.lookup(field) == nil {
			next = field
		}
	}
	if step.complete != nil {
		switch done := refTrue(t.eval(step.complete)); {
		case done:
			next = ""
		case next == "":
			for _, field := range a.names {
				if !step.complete.reads(field) {
					continue
				}
				t.remove(field)
				if next == "" {
					next = field
				}
			}
		}
	}
	if next == "" {
		return signal{}
	}
	if n := len(t.out.messages); always || !never && (n == 0 || !strings.HasSuffix(t.out.messages[n-1], "?")) {
		t.say(refQuestion(next), false)
	}
	t.st.wait = &refWaiting{kind: "gather", field: next, action: -2}
	return signal{kind: "wait"}
}

// reads reports whether an expression contains a name.
func (e *refExpr) reads(name string) bool {
	return e.op == "ref" && e.ref == name || slices.ContainsFunc(e.args, func(a *refExpr) bool { return a.reads(name) })
}

// main runs the actions of a step. main begins with the action that has the given index. If the
// step requires input, the step then waits for the input.
func (t *refTurn) main(step *refStep, from int) signal {
	if s := t.actions(step.body.actions, from, -1); s.kind != "" || len(step.inputs) == 0 {
		return s
	}
	if step.complete != nil && refTrue(t.eval(step.complete)) {
		return signal{}
	}
	if t.unread && len(t.out.messages) == t.from {
		if s, ok := t.intent(step); ok {
			return s
		}
	}
	if t.unread && len(t.out.messages) == t.from {
		return t.input(step)
	}
	t.st.wait = &refWaiting{kind: "input", action: -1}
	return signal{kind: "wait"}
}

func (t *refTurn) input(step *refStep) signal {
	t.unread = false
	for i, b := range step.inputs {
		if b.cond == nil || refTrue(t.eval(b.cond)) {
			return t.branch(step, i, 0)
		}
	}
	if s := t.attempt(step); s.kind != "" {
		return s
	}
	t.st.wait = &refWaiting{kind: "input", action: -1}
	t.repeat(step)
	return signal{kind: "wait"}
}

// branch runs the actions of a branch of ON_INPUT. branch begins with the action that has the given
// index.
func (t *refTurn) branch(step *refStep, i, from int) signal {
	b := step.inputs[i].body
	s := t.actions(b.actions, from, i)
	if s.kind == "" {
		s = signal{kind: b.then.kind, target: b.then.target}
	}
	if s.kind == "" && step.body.then.kind == "" {
		if step.complete != nil && refTrue(t.eval(step.complete)) {
			return signal{}
		}
		if s := t.attempt(step); s.kind != "" {
			return s
		}
		t.st.wait = &refWaiting{kind: "input", action: -1}
		return signal{kind: "wait"}
	}
	return s
}
