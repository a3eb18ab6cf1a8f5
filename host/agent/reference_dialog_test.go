package agent_test

import (
	"slices"
	"strings"
)

// intent runs the first intent whose phrase the message contains, or the intent that the model
// chooses. If no intent runs, the method returns false.
func (t *refTurn) intent(step *refStep) (signal, bool) {
	if len(step.intents) == 0 {
		return signal{}, false
	}
	text := false
	if w := t.st.wait; w != nil && w.kind == "gather" {
		text = t.typeOf(step, w.field) == ""
	}
	i := slices.IndexFunc(step.intents, func(in refIntent) bool {
		if text && len(strings.Fields(in.phrase)) == 1 && len(strings.Fields(*t.message)) > 3 && !strings.HasSuffix(*t.message, "?") && refMentions(*t.message, in.phrase) {
			t.seen["free answers"]++
			return false
		}
		return refMentions(*t.message, in.phrase)
	})
	if i < 0 && step.intentModel {
		i = t.classify(step)
	}
	if i < 0 {
		return signal{}, false
	}
	t.unread = false
	return t.runIntent(step, i, 0, t.st.wait), true
}

// runIntent runs the actions of an intent. runIntent begins with the action that has the given
// index. The argument "outer" is the input for which the step waited before the intent.
func (t *refTurn) runIntent(step *refStep, i, from int, outer *refWaiting) signal {
	in := &step.intents[i]
	t.st.wait = nil
	s := t.actions(in.body.actions, from, refIntents+i)
	if s.kind == "wait" {
		t.push(outer)
		return s
	}
	t.st.wait = outer
	if s.kind == "" {
		s = signal{kind: in.body.then.kind, target: in.body.then.target}
	}
	if in.resume && s.kind == "jump" {
		if outer == nil {
			outer = &refWaiting{kind: "input", action: -1}
		}
		t.push(outer)
	}
	if s.kind != "" && s.kind != "halt" {
		return s
	}
	quiet := s.kind == "halt" || !in.resume && len(t.out.messages) > t.inStep
	if outer == nil || outer.kind == "input" {
		t.st.wait = &refWaiting{kind: "input", action: -1}
		if !quiet {
			t.repeat(step)
		}
		return signal{kind: "wait"}
	}
	t.st.wait = nil
	t.inStep = len(t.out.messages)
	if s := t.gather(&step.body.actions[outer.action], !quiet, quiet); s.kind == "wait" {
		t.st.wait.action, t.st.wait.branch = outer.action, -1
		return s
	}
	return t.main(step, outer.action)
}

// push adds the current step to the steps to which the conversation returns later. At most 8 of
// these steps are remembered.
func (t *refTurn) push(wait *refWaiting) {
	t.st.returns = append(t.st.returns, refReturn{t.st.step, wait})
	t.st.returns = t.st.returns[max(0, len(t.st.returns)-8):]
}

// pop removes the step that was added last, because the conversation returns to it.
func (t *refTurn) pop() *refWaiting {
	last := len(t.st.returns) - 1
	wait := t.st.returns[last].wait
	t.st.returns = t.st.returns[:last]
	return wait
}

// refMentions reports whether a text contains the words of a phrase, in the same order.
func refMentions(text, phrase string) bool {
	want := strings.Fields(phrase)
	for _, word := range strings.Fields(text) {
		if len(want) > 0 && word == want[0] {
			want = want[1:]
		}
	}
	return len(want) == 0
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
	if w.kind == "gather" && step.body.actions[w.action].model {
		t.st.wait, t.requested = nil, w.field
		t.inStep = len(t.out.messages)
		return t.main(step, w.action)
	}
	t.unread = false
	if w.kind == "input" {
		return t.input(step)
	}
	if !t.accept(step, w.field) {
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
	return t.collected(step, w)
}

// collected continues a step after the constraint has collected its last field.
func (t *refTurn) collected(step *refStep, w *refWaiting) signal {
	c := t.a.constraints[w.constraint]
	excused := 0
	if c.fail.then == "continue" {
		excused = w.constraint + 1
	}
	t.st.wait = nil
	var outer *refWaiting
	if w.branch >= refIntents {
		outer = t.pop()
	}
	if c.fail.jump != "" {
		if w.branch >= refIntents && step.intents[w.branch-refIntents].resume {
			if outer == nil {
				outer = &refWaiting{kind: "input", action: -1}
			}
			t.push(outer)
		}
		t.seen["collected jumps"]++
		if c.before == "step" {
			excused = w.constraint + 1
		}
		return signal{kind: "jump", target: c.fail.jump, excused: excused}
	}
	if w.action < 0 || c.fail.retry {
		return signal{kind: "again", excused: excused}
	}
	t.excused = excused - 1
	switch {
	case w.branch >= refIntents:
		return t.runIntent(step, w.branch-refIntents, w.action, outer)
	case w.branch >= 0:
		return t.branch(step, w.branch, w.action)
	}
	return t.main(step, w.action)
}

// typeOf returns the type to which the answer for a field is converted. The step, the variable or
// another step declares this type.
func (t *refTurn) typeOf(step *refStep, field string) string {
	of := func(s *refStep) string {
		for _, a := range s.body.actions {
			if a.types[field] != "" {
				return a.types[field]
			}
		}
		return ""
	}
	if typ := of(step); typ != "" {
		return typ
	}
	for _, v := range t.a.vars {
		if v.name == field && v.typ != "" {
			return v.typ
		}
	}
	for i := range t.a.steps {
		if typ := of(&t.a.steps[i]); typ != "" {
			return typ
		}
	}
	return ""
}

// accept stores the message as the value of a field.
func (t *refTurn) accept(step *refStep, field string) bool {
	value, problem := refConvert(*t.message, t.typeOf(step, field))
	if problem != "" {
		t.say(problem, false)
		return false
	}
	t.assign(field, value)
	t.fire("entity:" + field + ":extracted")
	return true
}

// refConvert converts a text to a given type. The type must be "number" or "".
func refConvert(text, typ string) (value any, problem string) {
	text = strings.TrimSpace(text)
	n, ok := refNumber(text)
	switch {
	case typ == "number" && !ok:
		return nil, "Please enter a number, such as 3."
	case typ == "number":
		return n, ""
	case text == "":
		return nil, "Please enter a value."
	}
	return text, ""
}
