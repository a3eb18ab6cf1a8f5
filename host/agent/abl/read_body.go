package abl

import (
	"maps"
	"slices"
	"strings"

	"github.com/toolrun/toolrun/host/problem"
)

// actionKeys contains the keys that begin an action. ParseFragment accepts a part of a file if all
// its entries are actions.
var actionKeys = []string{"SET", "CLEAR", "TRANSFORM", "RESPOND", "CALL", "CHECK", "THEN", "ON_SUCCESS"}

// readBody reads the actions below an entry, in order. readBody also reads the successor of the
// actions, and the properties in the argument "extra".
func readBody(r *reader, e *entry, what string, extra properties) Body {
	return readBodyOf(r, e.at(), e.children, what, extra)
}

func readBodyOf(r *reader, at Position, entries []*entry, what string, extra properties) Body {
	b := Body{BodyAt: at}
	add := func(e *entry, a Action) {
		a.Position = e.at()
		b.Actions = append(b.Actions, a)
	}
	known := properties{
		"SET":        func(e *entry) { add(e, Action{Kind: KindSet, Set: readAssignments(r, e)}) },
		"CLEAR":      func(e *entry) { add(e, Action{Kind: KindClear, Clear: r.nameList(e, "CLEAR")}) },
		"TRANSFORM":  func(e *entry) { add(e, Action{Kind: KindTransform, Transform: readTransform(r, e)}) },
		"RESPOND":    func(e *entry) { add(e, Action{Kind: KindRespond, Respond: r.template(e)}) },
		"CALL":       func(e *entry) { add(e, Action{Kind: KindCall, Call: readCall(r, e)}) },
		"CHECK":      func(e *entry) { add(e, Action{Kind: KindCheck, Check: r.condition(e)}) },
		"ON_SUCCESS": func(e *entry) { readOutcome(r, e, &b, true) },
		"ON_FAIL":    func(e *entry) { readOutcome(r, e, &b, false) },
		"THEN":       func(e *entry) { b.Then = readTargetOf(r, e) },
		"GOTO":       func(e *entry) { b.Then = readTargetOf(r, e) },
	}
	maps.Copy(known, extra)
	r.readEntries(outcomesLast(entries), what, known)
	return b
}

// outcomesLast moves ON_SUCCESS and ON_FAIL after all other entries, because the reader must first
// read the action to which they belong.
func outcomesLast(entries []*entry) []*entry {
	isOutcome := func(e *entry) bool { return e.is("ON_SUCCESS") || e.is("ON_FAIL") }
	sorted := slices.Clone(entries)
	slices.SortStableFunc(sorted, func(a, b *entry) int {
		switch {
		case isOutcome(a) == isOutcome(b):
			return 0
		case isOutcome(a):
			return 1
		default:
			return -1
		}
	})
	return sorted
}

// readOutcome reads ON_SUCCESS or ON_FAIL. readOutcome adds the result to the call or check that
// precedes ON_SUCCESS or ON_FAIL.
func readOutcome(r *reader, e *entry, b *Body, success bool) {
	var owner *Action
	for i := range b.Actions {
		a := &b.Actions[i]
		if a.Kind != KindCall && (success || a.Kind != KindCheck) {
			continue
		}
		if owner == nil || a.Line < e.num {
			owner = a
		}
	}
	if owner == nil {
		r.errorf(e.at(), problem.MissingKey, "move the line below CALL or CHECK", "the key %s must follow CALL or CHECK", e.key)
		return
	}
	body := readConsequence(r, e)
	if success {
		owner.OnSuccess = &body
	} else {
		owner.OnFail = &body
	}
}

// readConsequence reads the name of a step, a message, or a block of actions.
func readConsequence(r *reader, e *entry) Body {
	switch {
	case e.value.Value == "" && !e.block:
		return readBody(r, e, e.key, properties{
			"RETRY": func(e *entry) { r.warnf(e.at(), problem.NoEffect, "write THEN: step", "RETRY has no effect in a step") },
		})
	case e.block || isQuoted(e.value):
		return Body{BodyAt: e.at(), Actions: []Action{{Position: e.at(), Kind: KindRespond, Respond: r.template(e)}}}
	default:
		return Body{BodyAt: e.at(), Then: readTargetOf(r, e)}
	}
}

// readTargetOf reads a target. A target is the name of a step, COMPLETE, CONTINUE, ESCALATE, or
// HANDOFF followed by the name of an agent.
func readTargetOf(r *reader, e *entry) Target {
	text := r.text(e)
	fields := strings.Fields(text.Value)
	t := Target{Name: Name{Position: text.Position}, Kind: TargetStep}
	switch {
	case len(fields) == 2 && fields[0] == "HANDOFF":
		t.Kind = TargetHandoff
		t.Name = r.nameOf(Text{Position: text.at(len(text.Value) - len(fields[1])), Value: fields[1]}, "an agent")
	case len(fields) != 1:
		r.errorf(text.Position, problem.BadValue, "write a step, COMPLETE, CONTINUE, ESCALATE or HANDOFF Agent_Name", "the target %s is not valid", problem.Quote(text.Value))
	case fields[0] == "COMPLETE":
		t.Kind = TargetComplete
	case fields[0] == "CONTINUE":
		t.Kind = TargetContinue
	case fields[0] == "ESCALATE":
		t.Kind = TargetEscalate
	default:
		t.Name = r.nameOf(text, "a step")
	}
	return t
}

// readAssignments reads the three forms of SET: one assignment NAME = VALUE, a list of these
// assignments, or lines of the form NAME: VALUE.
func readAssignments(r *reader, e *entry) []Assignment {
	var list []Assignment
	if e.value.Value != "" {
		list = append(list, readAssignment(r, e.value))
	}
	for _, child := range r.limited(e.children, "SET") {
		r.leafItem(child)
		if child.key == "" {
			list = append(list, readAssignment(r, child.value))
			continue
		}
		target := r.pathOf(Text{Position: child.at(), Value: child.key}, "a variable")
		list = append(list, Assignment{Target: target, Value: r.expressionOf(child.value)})
	}
	if len(list) == 0 {
		r.errorf(e.at(), problem.MissingKey, "write `SET: name = value`", "SET has no assignments")
	}
	return list
}

// leafItem reports an error if there are lines below an item that cannot have properties.
func (r *reader) leafItem(e *entry) {
	if len(e.children) > 0 {
		r.errorf(e.children[0].at(), problem.Indentation, "indent the line like the line above", "the item %s has no properties", problem.Quote(e.source()))
	}
}

// readCall reads a call such as "tool(a, b: expression)". A call can also be a tool that has the
// properties WITH and AS.
func readCall(r *reader, e *entry) *Call {
	c := &Call{}
	name, rest, found := strings.Cut(e.value.Value, "(")
	trimmed := strings.TrimRight(name, " ")
	c.Tool = r.nameOf(Text{Position: e.value.Position, Value: trimmed}, "a tool")
	if trimmed == "" {
		r.errorf(e.at(), problem.MissingKey, "write `CALL: tool(a, b)`", "CALL has no tool")
	}
	if found {
		inner, closed := strings.CutSuffix(rest, ")")
		if !closed {
			r.errorf(e.value.Position, problem.Syntax, "close the arguments with `)`", "the arguments of %s are not closed", trimmed)
			return c
		}
		c.Args = readArguments(r, Text{Position: e.value.at(len(name) + 1), Value: inner})
	}
	r.read(e, "CALL", properties{
		"WITH": func(e *entry) {
			for _, child := range e.children {
				if child.key == "" {
					c.Args = append(c.Args, readAssignment(r, child.value))
					continue
				}
				c.Args = append(c.Args, Assignment{Target: Name{child.at(), child.key}, Value: readNestedValue(r, child)})
			}
		},
		"AS": func(e *entry) { c.As = r.pathOf(r.text(e), "a variable") },
	})
	seen := map[string]bool{}
	for _, arg := range c.Args {
		if seen[arg.Target.Value] && arg.Target.Value != "" {
			r.errorf(arg.Target.Position, problem.DuplicateName, "remove one of the two arguments", "the argument %s occurs twice", arg.Target.Value)
		}
		seen[arg.Target.Value] = true
	}
	return c
}

// readNestedValue reads the value of a property. The value is an expression, or an object whose
// members are on the lines below the property.
func readNestedValue(r *reader, e *entry) *Expr {
	if e.value.Value != "" || len(e.children) == 0 {
		return r.expression(e)
	}
	n := &objectNode{at: e.at()}
	for _, child := range e.children {
		if x := readNestedValue(r, child); x != nil && child.key != "" {
			n.keys, n.values = append(n.keys, child.key), append(n.values, x.root)
		}
	}
	return &Expr{text: Text{Position: e.at(), Value: "{...}"}, root: n}
}

// readArguments reads the arguments of a call, such as "a, b: expression, c = expression". If an
// argument is only the name of a variable, such as "a", the input has the same name as the
// variable.
func readArguments(r *reader, text Text) []Assignment {
	var args []Assignment
	for i, part := range splitTop(text) {
		if i == MaxItems {
			r.errorf(part.Position, problem.OverLimit, "", "a call has more than %d arguments", MaxItems)
			break
		}
		name, value := part.Value, part
		if i := separator(part.Value); i >= 0 {
			name = strings.TrimRight(part.Value[:i], " ")
			offset := len(part.Value) - len(strings.TrimLeft(part.Value[i+1:], " "))
			value.Position, value.Value = part.at(offset), part.Value[offset:]
		}
		if !isName(name) {
			r.errorf(part.Position, problem.Syntax, "write a variable, or an input and a value such as `city: user.city`", "the text %s is not an argument", problem.Quote(part.Value))
			continue
		}
		args = append(args, Assignment{Target: Name{part.Position, name}, Value: r.expressionOf(value)})
	}
	return args
}

// separator returns the offset of the ":" or "=" that follows the name of an argument. If there is
// none, the result is -1.
func separator(s string) int {
	i := len(word(s))
	rest := strings.TrimLeft(s[i:], " ")
	if rest == "" || i == 0 || rest[0] != ':' && rest[0] != '=' || strings.HasPrefix(rest, "==") {
		return -1
	}
	return len(s) - len(rest)
}

// splitTop splits a text at each comma that is outside of brackets and quotes.
func splitTop(text Text) []Text {
	var parts []Text
	start, depth := 0, 0
	loc := locator{text: text}
	add := func(end int) {
		part := text.Value[start:end]
		trimmed := strings.TrimLeft(part, " \t")
		if value := strings.TrimRight(trimmed, " \t"); value != "" {
			parts = append(parts, Text{Position: loc.at(end - len(trimmed)), Value: value})
		}
		start = end + 1
	}
	scanQuoted(text.Value, func(i int) bool {
		switch text.Value[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ',':
			if depth == 0 {
				add(i)
			}
		}
		return true
	})
	add(len(text.Value))
	return parts
}
