package agent_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

func (t *refTurn) say(text string, result bool) {
	t.out.messages = append(t.out.messages, text)
	t.results = append(t.results, result)
	if len(t.out.messages) > 100 {
		t.die("messages")
	}
}

// actions runs a list of actions. actions begins with the action that has the given index. If the
// actions are in a branch, the argument "branch" is the index of the branch, otherwise -1.
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
	case "transform":
		t.transform(a.transform)
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
	if code == string(lost) {
		t.die(code)
	}
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

// check checks the constraints that apply at a checkpoint.
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

// knows reports whether a path is a declared fact of the agent, or the target of a trigger.
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

// lookup returns the value of a name, or nil if the name has no value.
func (t *refTurn) lookup(name string) any {
	member := func(value any, key string) any {
		object, _ := value.(map[string]any)
		return object[key]
	}
	switch {
	case t.itemName != "" && name == t.itemName:
		return t.item
	case t.itemName != "" && strings.HasPrefix(name, t.itemName+"."):
		return member(t.item, name[len(t.itemName)+1:])
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
