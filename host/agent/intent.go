package agent

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/toolrun/toolrun/host/agent/abl"
	"github.com/toolrun/toolrun/host/report"
)

// MaxReturns is the maximum number of interrupted steps to which a conversation can return later.
// If a conversation interrupts more steps, it forgets the oldest of them.
const MaxReturns = 8

// maxIntentWords is the maximum number of words of a short message. While GATHER asks for a text,
// an intent whose phrase is a single word is recognized only in short messages and in questions. In
// other messages, the word can occur by chance.
const maxIntentWords = 3

// intent runs the first intent of a step that matches the message. If no phrase matches and the
// step has a model for intents, the model chooses an intent.
func (d *dialog) intent(ctx context.Context, step *abl.Step) (ctl control, matched bool, err error) {
	if len(step.SubIntents)+len(step.Digressions) == 0 {
		return control{}, false, nil
	}
	var intents []*abl.SubIntent
	for i := range step.SubIntents {
		intents = append(intents, &step.SubIntents[i])
	}
	for i := range step.Digressions {
		intents = append(intents, &step.Digressions[i])
	}
	message := words(d.t.request.Message)
	isAnswer := len(message) > maxIntentWords && asksText(d, step) && !endsWithQuestion([]string{d.t.request.Message})
	i := slices.IndexFunc(intents, func(in *abl.SubIntent) bool {
		phrase := words(in.Intent)
		return mentions(message, phrase) && !(isAnswer && len(phrase) == 1)
	})
	if i < 0 && step.IntentModel != "" {
		if i, err = d.classify(ctx, step, intents); err != nil {
			return control{}, false, err
		}
	}
	if i < 0 {
		return control{}, false, nil
	}
	d.t.unread = false
	in := intents[i]
	d.log.note(report.Trace{Kind: "intent", Name: in.Intent, Position: d.log.place(in.Position), Result: "matched"})
	root := []int{rootIntent, i}
	if i >= len(step.SubIntents) {
		root = []int{rootDigression, i - len(step.SubIntents)}
	}
	ctl, err = d.runIntent(ctx, step, in, root, nil)
	return ctl, true, err
}

// runIntent runs the actions of an intent. The step waits for input meanwhile. If an action of the
// intent waits, the step waits for the input of this action. state.Returns then records the input
// for which the step waited before.
func (d *dialog) runIntent(ctx context.Context, step *abl.Step, in *abl.SubIntent, root, resume []int) (control, error) {
	state := d.mem.state
	outer := Return{state.Step, state.Waiting, state.Path, state.Collecting, state.Collected}
	if last := len(state.Returns) - 1; len(resume) > 0 && last >= 0 {
		outer, state.Returns = state.Returns[last], state.Returns[:last]
	}
	state.Path = nil
	ctl, err := d.t.acts.root(ctx, root, &in.Body, resume)
	if ctl.kind == wait {
		d.push(outer)
		return ctl, err
	}
	state.Waiting, state.Path, state.Collecting, state.Collected = outer.Waiting, outer.Path, outer.Collecting, outer.Collected
	return d.afterIntent(ctx, step, in, ctl, err)
}

// asksText reports whether the step waits for a field of GATHER that accepts any text.
func asksText(d *dialog, step *abl.Step) bool {
	if d.mem.state.Waiting != WaitingGather {
		return false
	}
	switch d.mem.agent.fieldType(step, d.mem.state.Collecting) {
	case "", "string", "array":
		return true
	}
	return false
}

// intentAt returns the intent that contains a waiting action, or nil if the action belongs to
// another part of the step.
func intentAt(step *abl.Step, path []int) *abl.SubIntent {
	switch {
	case len(path) < 2:
	case path[0] == rootIntent && path[1] < len(step.SubIntents):
		return &step.SubIntents[path[1]]
	case path[0] == rootDigression && path[1] < len(step.Digressions):
		return &step.Digressions[path[1]]
	}
	return nil
}

// leaveIntent is called if the turn does not continue an intent that is waiting. The last item of
// state.Returns then describes the input that the intent interrupted. leaveIntent removes this
// item, because otherwise the agent would later wait for that input again. If the intent has RESUME
// and the turn leaves the step, leaveIntent keeps the item.
func (d *dialog) leaveIntent(step *abl.Step, leavesStep bool) {
	state := d.mem.state
	in, last := intentAt(step, state.Path), len(state.Returns)-1
	if in == nil || last < 0 {
		return
	}
	if leavesStep && in.Resume {
		state.Returns[last].Waiting = cmp.Or(state.Returns[last].Waiting, WaitingInput)
		return
	}
	state.Returns = state.Returns[:last]
}

// push records a step to which the conversation returns later.
func (d *dialog) push(r Return) {
	state := d.mem.state
	if len(state.Returns) == MaxReturns {
		state.Returns = state.Returns[1:]
	}
	state.Returns = append(state.Returns, r)
}

// afterIntent returns the control that applies after an intent. If the intent halts or has no
// successor, the step waits again. The step then repeats its question if the intent resumes the
// step, or if the intent has sent no message.
func (d *dialog) afterIntent(ctx context.Context, step *abl.Step, in *abl.SubIntent, ctl control, err error) (control, error) {
	state := d.mem.state
	if in.Resume && ctl.kind == jump {
		d.push(Return{state.Step, cmp.Or(state.Waiting, WaitingInput), state.Path, state.Collecting, state.Collected})
	}
	if err != nil || ctl.kind != goOn && ctl.kind != halt {
		return ctl, err
	}
	quiet := ctl.kind == halt || !in.Resume && len(d.log.outcome.Messages) > d.t.stepStart
	if state.Waiting == WaitingGather {
		path := state.Path
		d.t.stepStart = len(d.log.outcome.Messages)
		how := askAgain
		if quiet {
			how = askNot
		}
		if ctl, err := d.gatherNext(ctx, step, how); err != nil || ctl.kind == wait {
			state.Path = path
			return ctl, err
		}
		return d.t.act(ctx, step, path[min(1, len(path)):])
	}
	if isReasoning(step) {
		ctl = d.wait(WaitingModel, "")
	} else {
		ctl = d.wait(WaitingInput, "")
	}
	if quiet {
		return ctl, nil
	}
	return ctl, d.repeat(ctx, step)
}

// words returns the words of a text in lower case.
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// mentions reports whether a message contains all words of a phrase, in the same order. The message
// can contain other words between the words of the phrase.
func mentions(message, phrase []string) bool {
	if len(phrase) == 0 {
		return false
	}
	for _, word := range message {
		if word == phrase[0] {
			if phrase = phrase[1:]; len(phrase) == 0 {
				return true
			}
		}
	}
	return false
}
