package agent_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// This file contains a second interpreter of agents, which is based on the reference of the
// language. It shares no code with the package. It supports the part of the language that the
// generator produces.

// refExpr is an expression: a literal (lit), a name (ref), or an operator with operands.
type refExpr struct {
	op   string
	lit  any
	ref  string
	args []*refExpr
}

// refText is a message: literal text, and names in braces.
type refText []refPiece

type refPiece struct{ text, ref string }

type refVar struct {
	name, typ, reset string
	initial          any
}

type refTrigger struct {
	when, value *refExpr
	target      string
	appends     bool
	unique      bool
	max         int
	ttl         time.Duration
}

type refRecall struct {
	event, domain, prompt string
	paths                 []string
}

type refFail struct {
	respond        refText
	handoff, jump  string
	escalate, stop bool // stop is BLOCK
	retry          bool
	collect        []string
	then           string
}

type refConstraint struct {
	rule       string
	cond, when *refExpr
	before     string // step, calling or returning
	tool       string
	fail       refFail
}

type refSet struct {
	target string
	value  *refExpr
}

type refThen struct{ kind, target string } // kind is "", jump, complete, handoff or escalate

type refAction struct {
	kind          string // set, clear, respond, check, call or gather
	sets          []refSet
	names         []string // of clear and gather
	text          refText
	cond          *refExpr
	tool          string
	arg           *refExpr
	success, fail *refBody
}

type refBody struct {
	actions []refAction
	then    refThen
}

type refBranch struct {
	cond *refExpr // nil is ELSE
	body refBody
}

// refIntent is an item of SUB_INTENTS.
type refIntent struct {
	phrase string
	resume bool
	body   refBody
}

type refHook struct {
	name     string // before_turn or after_turn
	critical bool
	actions  []refAction
}

type refStep struct {
	name      string
	when      *refExpr
	body      refBody
	inputs    []refBranch
	intents   []refIntent
	complete  *refExpr
	max       int // of MAX_ATTEMPTS
	exhausted string
}

type refAgent struct {
	name        string
	vars        []refVar
	facts       map[string]any // declared paths and their defaults
	triggers    []refTrigger
	recalls     []refRecall
	constraints []refConstraint
	start       []refAction
	// sensitive contains the variables and facts that the agent declares as sensitive.
	sensitive []string
	hooks     []refHook
	steps     []refStep
}

// refFact is a stored fact.
type refFact struct {
	value   any
	expires time.Time
}

// refWaiting is the position at which a step waits. The step waits for a field of GATHER, for
// input, or for a field that the constraint collects. branch is -1 for the actions of the step.
// action is -1 before the first action.
type refWaiting struct {
	kind, field    string
	branch, action int
	constraint     int
	remaining      []string
}

// refState is the state of an agent in a session.
type refState struct {
	vars   map[string]any
	step   string
	wait   *refWaiting
	stored map[int]string
	// attempts contains the number of attempts of each step since the flow began.
	attempts map[string]int
}

type refSession struct {
	active   string
	agents   map[string]*refState
	injected map[string]any
}

// refWorld contains all stored data.
type refWorld struct {
	now   time.Time
	facts map[string]refFact // by owner and path
	kept  map[string]map[string]any
	// failedTools is the number of failed tool calls.
	failedTools int
	sessions    map[string]*refSession
}

func (w *refWorld) clone() *refWorld {
	c := &refWorld{now: w.now, facts: maps.Clone(w.facts), kept: map[string]map[string]any{}, sessions: map[string]*refSession{}}
	for key, vars := range w.kept {
		c.kept[key] = maps.Clone(vars)
	}
	for id, s := range w.sessions {
		n := &refSession{s.active, map[string]*refState{}, maps.Clone(s.injected)}
		for name, a := range s.agents {
			st := &refState{maps.Clone(a.vars), a.step, nil, maps.Clone(a.stored), maps.Clone(a.attempts)}
			if a.wait != nil {
				wait := *a.wait
				wait.remaining = slices.Clone(wait.remaining)
				st.wait = &wait
			}
			n.agents[name] = st
		}
		c.sessions[id] = n
	}
	return c
}

func refOwner(user, path string) string {
	if strings.HasPrefix(path, "project.") {
		return path
	}
	return user + "/" + path
}

// refOutcome is the visible result of a turn.
type refOutcome struct {
	agent, step, collecting, handoff string
	messages                         []string
	instructions                     []string
	done, blocked, escalate          bool
	injected                         map[string]any
}

// refTurn is one turn over a copy of the world.
type refTurn struct {
	w       *refWorld
	agents  map[string]*refAgent
	user    string
	session *refSession
	a       *refAgent
	st      *refState
	kept    map[string]any
	joined  []string
	touched map[string]bool // agents with changed kept variables
	message *string
	unread  bool
	result  any
	failure any
	out     refOutcome
	results []bool // for each message, whether it is a result
	from    int    // the first message of the agent
	inStep  int    // the first message of the step
	running bool
	excused int
	args    map[string]any // the input of a call while its constraints are checked
	entry   string
	steps   int
	moves   int
	nested  int
	closed  bool // after the hooks of the end of the turn
	retries map[string]int
	// tool performs the writes of a tool on the facts.
	tool func(t *refTurn, name string, x any) (any, string)
}

// refFailure ends a turn without an effect.
type refFailure struct{ reason string }

func (t *refTurn) die(reason string) { panic(refFailure{reason}) }

// signal determines how the turn continues after an action or a step. With the empty kind, the next
// action or step runs.
type signal struct {
	kind, target string
	excused      int // a constraint that is not checked next, plus 1
}

// perform executes the turn. It returns false if the turn fails.
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

// run runs steps until one waits or stops, or the flow ends.
func (t *refTurn) run() signal {
	if t.find(t.st.step) < 0 {
		first := t.a.steps[0].name
		if t.entry != "" {
			first = t.entry
		}
		t.entry = ""
		t.move(first)
		t.st.attempts = map[string]int{}
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

// hook runs all hooks with a name. It undoes the changes of a failed hook.
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

// hookSucceeds runs a hook. A failed tool or constraint ends the hook. If the hook is critical, it
// also ends the turn.
func (t *refTurn) hookSucceeds(h refHook) (ok bool) {
	blocked := t.out.blocked
	t.out.blocked = false
	defer func() {
		r := recover()
		if _, isFailure := r.(refFailure); r != nil && (!isFailure || h.critical) {
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

// intent runs the first intent that the message names. It returns false if the message names no
// intent.
func (t *refTurn) intent(step *refStep) (signal, bool) {
	for _, in := range step.intents {
		if !refMentions(*t.message, in.phrase) {
			continue
		}
		t.unread = false
		s := t.follow(&in.body)
		if s.kind != "" {
			return s, true
		}
		quiet := !in.resume && len(t.out.messages) > t.inStep
		w := t.st.wait
		if w == nil || w.kind == "input" {
			t.st.wait = &refWaiting{kind: "input", action: -1}
			if !quiet {
				t.repeat(step)
			}
			return signal{kind: "wait"}, true
		}
		t.st.wait = nil
		if s := t.gather(&step.body.actions[w.action], !quiet, quiet); s.kind == "wait" {
			t.st.wait.action, t.st.wait.branch = w.action, -1
			return s, true
		}
		return t.main(step, w.action), true
	}
	return signal{}, false
}

// refMentions reports whether a text has the words of a phrase in order.
func refMentions(text, phrase string) bool {
	want := strings.Fields(phrase)
	for _, word := range strings.Fields(text) {
		if len(want) > 0 && word == want[0] {
			want = want[1:]
		}
	}
	return len(want) == 0
}

// gather asks for the first field without a value, or continues if there is none. The standard
// question is sent always, never, or unless the last message is a question.
func (t *refTurn) gather(a *refAction, always, never bool) signal {
	step := &t.a.steps[t.find(t.st.step)]
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

// main runs the actions of a step from an index on. It then waits for input if the step requires
// input.
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

// branch runs the actions of a branch of ON_INPUT from an index on.
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

// repeat repeats the question of a waiting step.
func (t *refTurn) repeat(step *refStep) {
	if w := t.st.wait; w.kind != "input" {
		t.say(refQuestion(w.field), false)
		return
	}
	for _, a := range step.body.actions {
		if a.kind == "respond" {
			t.say(t.text(a.text), true)
		}
	}
}

func refQuestion(field string) string {
	return "Please enter the " + field[strings.LastIndex(field, ".")+1:] + "."
}

// resume continues a waiting step.
func (t *refTurn) resume(step *refStep) signal {
	w := t.st.wait
	if !t.unread {
		t.repeat(step)
		return signal{kind: "wait"}
	}
	if w.kind != "collect" {
		if s, ok := t.intent(step); ok {
			return s
		}
	}
	t.unread = false
	if w.kind == "input" {
		return t.input(step)
	}
	if !t.accept(w.field) {
		if w.kind == "gather" {
			if s := t.attempt(step); s.kind != "" {
				return s
			}
		}
		return signal{kind: "wait"}
	}
	if w.kind == "gather" {
		t.st.wait = nil
		t.inStep = len(t.out.messages)
		return t.main(step, w.action)
	}
	if w.remaining = w.remaining[1:]; len(w.remaining) > 0 {
		w.field = w.remaining[0]
		t.say(refQuestion(w.field), false)
		return signal{kind: "wait"}
	}
	c := t.a.constraints[w.constraint]
	excused := 0
	if c.fail.then == "continue" {
		excused = w.constraint + 1
	}
	t.st.wait = nil
	if w.action < 0 || c.fail.retry {
		return signal{kind: "again", excused: excused}
	}
	t.excused = excused - 1
	if w.branch >= 0 {
		return t.branch(step, w.branch, w.action)
	}
	return t.main(step, w.action)
}

// accept stores the message as the value of a field.
func (t *refTurn) accept(field string) bool {
	text := strings.TrimSpace(*t.message)
	typ := ""
	for _, v := range t.a.vars {
		if v.name == field {
			typ = v.typ
		}
	}
	var value any = text
	switch {
	case typ == "number":
		n, ok := refNumber(text)
		if !ok {
			t.say("Please enter a number, such as 3.", false)
			return false
		}
		value = n
	case text == "":
		t.say("Please enter a value.", false)
		return false
	}
	t.assign(field, value)
	t.fire("entity:" + field + ":extracted")
	return true
}

func (t *refTurn) say(text string, result bool) {
	t.out.messages = append(t.out.messages, text)
	t.results = append(t.results, result)
	if len(t.out.messages) > 100 {
		t.die("messages")
	}
}

// actions runs actions from an index on. The parameter branch is the index of the branch that
// contains the actions, or -1.
func (t *refTurn) actions(list []refAction, from, branch int) signal {
	for i := from; i < len(list); i++ {
		s := t.action(&list[i])
		if s.kind == "wait" && t.st.wait.action == -2 {
			t.st.wait.branch, t.st.wait.action = branch, i
		}
		if s.kind != "" {
			return s
		}
	}
	return signal{}
}

func (t *refTurn) action(a *refAction) signal {
	switch a.kind {
	case "set":
		for _, s := range a.sets {
			t.assign(s.target, t.eval(s.value))
		}
	case "clear":
		for _, name := range a.names {
			t.remove(name)
		}
	case "respond":
		t.say(t.text(a.text), true)
	case "check":
		if !refTrue(t.eval(a.cond)) {
			return t.onFail(a.fail)
		}
	case "call":
		return t.call(a)
	case "gather":
		return t.gather(a, false, false)
	}
	return signal{}
}

func (t *refTurn) follow(b *refBody) signal {
	if b == nil {
		return signal{}
	}
	if s := t.actions(b.actions, 0, -1); s.kind != "" {
		return s
	}
	return signal{kind: b.then.kind, target: b.then.target}
}

func (t *refTurn) onFail(b *refBody) signal {
	if s := t.follow(b); s.kind != "" {
		return s
	}
	return signal{kind: "halt"}
}

func (t *refTurn) call(a *refAction) signal {
	x := t.eval(a.arg)
	excused := t.excused
	s := t.check("calling", a.tool)
	if s.kind == "" && x != nil {
		t.args, t.excused = map[string]any{"x": x}, excused
		s = t.check("calling", a.tool)
		t.args = nil
	}
	if s.kind != "" {
		if s.kind == "wait" {
			t.st.wait.action = -2
		}
		return s
	}
	if t.nested++; t.nested > 64 {
		t.result, t.failure = nil, map[string]any{"code": "call_limit"}
		if a.fail == nil {
			t.die("unhandled call_limit")
		}
		return t.onFail(a.fail)
	}
	before := maps.Clone(t.w.facts)
	output, code := t.tool(t, a.tool, x)
	if code != "" {
		t.w.facts = before
		t.result, t.failure = nil, map[string]any{"code": code}
		if a.fail == nil {
			t.die("unhandled " + code)
		}
		return t.onFail(a.fail)
	}
	t.result, t.failure = output, nil
	t.fire("tool:" + a.tool + ":after")
	return t.follow(a.success)
}

// check checks the constraints of a checkpoint.
func (t *refTurn) check(at, tool string) signal {
	checked := func(c refConstraint) bool { return c.before == at && (at != "calling" || c.tool == tool) }
	excused := t.excused
	if excused >= 0 && excused < len(t.a.constraints) && checked(t.a.constraints[excused]) {
		t.excused = -1
	}
	for i, c := range t.a.constraints {
		if checked(c) && i != excused && t.violated(c) && c.rule != "WARN" {
			return t.fail(i, at)
		}
	}
	return signal{}
}

func (t *refTurn) violated(c refConstraint) bool {
	if c.when != nil && t.truth(c.when) == refFalse {
		return false
	}
	truth := t.truth(c.cond)
	if c.rule == "RESTRICT" {
		return truth == refYes
	}
	return truth != refYes
}

func (t *refTurn) fail(i int, at string) signal {
	c := t.a.constraints[i]
	t.out.blocked = true
	if at == "returning" {
		var messages []string
		var results []bool
		for n, m := range t.out.messages {
			if n < t.from || !t.results[n] {
				messages, results = append(messages, m), append(results, t.results[n])
			}
		}
		t.out.messages, t.results = messages, results
	}
	if c.fail.respond != nil {
		t.say(t.text(c.fail.respond), false)
	}
	switch f := c.fail; {
	case f.handoff != "":
		return signal{kind: "handoff", target: f.handoff}
	case f.escalate:
		return signal{kind: "escalate"}
	case len(f.collect) > 0 && t.running:
		var missing []string
		for _, field := range f.collect {
			if t.lookup(field) == nil {
				missing = append(missing, field)
			}
		}
		if len(missing) == 0 {
			missing = slices.Clone(f.collect)
		}
		t.st.wait = &refWaiting{kind: "collect", field: missing[0], action: -1, branch: -1, constraint: i, remaining: missing}
		if f.respond == nil {
			t.say(refQuestion(missing[0]), false)
		}
		return signal{kind: "wait"}
	case len(f.collect) > 0:
		return signal{kind: "halt"}
	case f.jump != "":
		return signal{kind: "jump", target: f.jump, excused: i + 1}
	case f.retry && t.retries[t.a.name+strconv.Itoa(i)] < 3:
		t.retries[t.a.name+strconv.Itoa(i)]++
		return signal{kind: "again"}
	}
	return signal{kind: "halt"}
}

// knows reports whether a path is a declared fact of the agent or the target of a trigger.
func (t *refTurn) knows(path string) bool {
	if _, ok := t.a.facts[path]; ok {
		return true
	}
	return slices.ContainsFunc(t.a.triggers, func(tr refTrigger) bool { return tr.target == path })
}

func (t *refTurn) stored(path string) (any, bool) {
	f, ok := t.w.facts[refOwner(t.user, path)]
	if !ok || !f.expires.IsZero() && !t.w.now.Before(f.expires) {
		return nil, false
	}
	return f.value, true
}

// lookup returns the value of a name, or nil.
func (t *refTurn) lookup(name string) any {
	member := func(value any, key string) any {
		object, _ := value.(map[string]any)
		return object[key]
	}
	switch {
	case name == "input":
		if t.message == nil {
			return nil
		}
		return *t.message
	case strings.HasPrefix(name, "call_result."):
		return member(t.result, name[len("call_result."):])
	case strings.HasPrefix(name, "call_error."):
		return member(t.failure, name[len("call_error."):])
	case t.knows(name):
		if value, ok := t.stored(name); ok {
			return value
		}
		return t.a.facts[name]
	}
	if value, ok := t.args[name]; ok {
		return value
	}
	if value, ok := t.session.injected[name]; ok {
		return value
	}
	first, key, dotted := strings.Cut(name, ".")
	value, ok := t.st.vars[first]
	if !ok {
		value = t.kept[first]
	}
	if dotted {
		return member(value, key)
	}
	return value
}

func (t *refTurn) assign(name string, value any) {
	if t.knows(name) && value == nil {
		delete(t.w.facts, refOwner(t.user, name))
		return
	}
	if t.knows(name) {
		t.w.facts[refOwner(t.user, name)] = refFact{value: value}
		return
	}
	first, key, dotted := strings.Cut(name, ".")
	if dotted {
		object, _ := t.lookup(first).(map[string]any)
		object = maps.Clone(object)
		if object == nil {
			object = map[string]any{}
		}
		object[key] = value
		value = object
	}
	if t.isKept(first) {
		t.kept[first] = value
		t.touched[t.a.name] = true
		return
	}
	t.st.vars[first] = value
}

func (t *refTurn) isKept(name string) bool {
	return slices.ContainsFunc(t.a.vars, func(v refVar) bool { return v.name == name && v.reset == "never" })
}

func (t *refTurn) remove(name string) {
	if t.knows(name) {
		delete(t.w.facts, refOwner(t.user, name))
		return
	}
	delete(t.st.vars, name)
	if _, ok := t.kept[name]; ok {
		delete(t.kept, name)
		t.touched[t.a.name] = true
	}
}

// fire performs the recalls of an event.
func (t *refTurn) fire(event string) {
	for _, r := range t.a.recalls {
		if r.event != event && (strings.Count(r.event, "*") == 0 || !refMatches(r.event, event)) {
			continue
		}
		if r.prompt != "" {
			t.out.instructions = append(t.out.instructions, r.prompt)
			continue
		}
		load := map[string]any{}
		for _, path := range r.paths {
			if load[path] = t.a.facts[path]; true {
				if value, ok := t.stored(path); ok {
					load[path] = value
				}
			}
		}
		if r.domain != "" {
			for path, standard := range t.a.facts {
				if refDomain(path) == r.domain && standard != nil {
					load[path] = standard
				}
			}
			for owner := range t.w.facts {
				path := owner[strings.Index(owner, "/")+1:]
				if value, ok := t.stored(path); ok && refDomain(path) == r.domain {
					load[path] = value
				}
			}
		}
		if t.session.injected == nil {
			t.session.injected = map[string]any{}
		}
		maps.Copy(t.session.injected, load)
		maps.Copy(t.out.injected, load)
	}
}

func refMatches(pattern, event string) bool {
	before, after, _ := strings.Cut(pattern, "*")
	return strings.HasPrefix(event, before) && strings.HasSuffix(event, after)
}

func refDomain(path string) string { return strings.Split(path, ".")[1] }

func (t *refTurn) fireTriggers() {
	for i, tr := range t.a.triggers {
		if !refTrue(t.eval(tr.when)) {
			continue
		}
		value := t.eval(tr.value)
		if value == nil {
			continue
		}
		content, _ := json.Marshal(value)
		if t.st.stored[i] == string(content) {
			continue
		}
		if tr.appends {
			old, _ := t.stored(tr.target)
			list, isList := old.([]any)
			if !isList && old != nil {
				list = []any{old}
			}
			if tr.unique && slices.ContainsFunc(list, func(x any) bool { return reflect.DeepEqual(x, value) }) {
				t.st.stored[i] = string(content)
				continue
			}
			list = append(slices.Clone(list), value)
			if tr.max > 0 && len(list) > tr.max {
				list = list[len(list)-tr.max:]
			}
			value = list
		}
		f := refFact{value: value}
		if tr.ttl > 0 {
			f.expires = t.w.now.Add(tr.ttl)
		}
		t.w.facts[refOwner(t.user, tr.target)] = f
		t.st.stored[i] = string(content)
	}
}

func (t *refTurn) text(text refText) string {
	var b strings.Builder
	for _, p := range text {
		b.WriteString(p.text)
		if p.ref != "" {
			b.WriteString(refString(t.lookup(p.ref)))
		}
	}
	return b.String()
}
