package agent

import (
	"context"
	"slices"

	"github.com/toolrun/toolrun/host/agent/abl"
	"github.com/toolrun/toolrun/host/model"
	"github.com/toolrun/toolrun/host/report"
)

// dialog passes the message of the user to the waiting step.
type dialog struct {
	t   *turn
	mem *memory
	log *log
}

// resume continues a waiting step. If the turn has no message, resume repeats the question of the
// step.
func (d *dialog) resume(ctx context.Context, step *abl.Step) (control, error) {
	state := d.mem.state
	if !d.t.unread {
		return control{kind: wait}, d.repeat(ctx, step)
	}
	hideAnswer(d.mem) // a handoff in this turn can have activated the agent
	if state.Waiting == WaitingCollect {
		return d.collect(ctx, step)
	}
	// If the file has changed, it might no longer contain the waiting action.
	if state.Waiting == WaitingGather && step.Gather == nil || state.Waiting == WaitingModel && !isReasoning(step) {
		return control{kind: again}, nil
	}
	if ctl, matched, err := d.intent(ctx, step); err != nil || matched {
		return ctl, err
	}
	switch {
	case state.Waiting == WaitingModel:
		return d.t.reason.step(ctx, step)
	case state.Waiting == WaitingInput:
		return d.input(ctx, step)
	}
	return d.answer(ctx, step)
}

// await makes a step wait for the input of ON_INPUT. If no action has used the user's message, and
// if the agent has not yet sent a message in this turn, await uses the message as the input.
func (d *dialog) await(ctx context.Context, step *abl.Step) (control, error) {
	if step.CompleteWhen != nil {
		if done, err := d.mem.holds(ctx, step.CompleteWhen); err != nil || done {
			return control{}, err
		}
	}
	if d.t.unread && len(d.log.outcome.Messages) == d.t.agentStart {
		if ctl, matched, err := d.intent(ctx, step); err != nil || matched {
			return ctl, err
		}
		d.t.unread = false
		return d.input(ctx, step)
	}
	return d.wait(WaitingInput, ""), nil
}

// wait makes the step wait.
func (d *dialog) wait(kind Waiting, field string) control {
	d.mem.state.Waiting, d.mem.state.Collecting = kind, field
	return control{kind: wait}
}

// input runs the first branch of ON_INPUT whose condition is true. If this branch has no successor,
// THEN of the step determines the successor. The step waits again if the step also has no THEN, or
// if no branch of ON_INPUT has a true condition.
func (d *dialog) input(ctx context.Context, step *abl.Step) (control, error) {
	d.t.unread = false
	for i := range step.OnInput {
		branch := &step.OnInput[i]
		ok, err := d.mem.holds(ctx, branch.If)
		if err != nil {
			return control{}, err
		}
		if !ok {
			continue
		}
		d.log.note(report.Trace{Kind: "input", Position: d.log.place(branch.Position), Result: "matched"})
		ctl, err := d.t.acts.root(ctx, []int{rootInput, i}, &branch.Body, nil)
		return d.afterInput(ctx, step, ctl, err)
	}
	d.log.note(report.Trace{Kind: "input", Name: step.Value, Position: d.log.place(step.Name.Position), Result: "unmatched"})
	if ctl, stop := d.t.attempt(step); stop {
		return ctl, nil
	}
	return d.wait(WaitingInput, ""), d.repeat(ctx, step)
}

// afterInput returns the control that applies after a branch of ON_INPUT.
func (d *dialog) afterInput(ctx context.Context, step *abl.Step, ctl control, err error) (control, error) {
	if err != nil || ctl.kind != goOn || step.Then.Kind != "" {
		return ctl, err
	}
	if done, err := d.completes(ctx, step); err != nil || done {
		return control{}, err
	}
	if ctl, stop := d.t.attempt(step); stop {
		return ctl, nil
	}
	return d.wait(WaitingInput, ""), nil
}

// completes reports whether COMPLETE_WHEN of a step is true.
func (d *dialog) completes(ctx context.Context, step *abl.Step) (bool, error) {
	if step.CompleteWhen == nil {
		return false, nil
	}
	return d.mem.holds(ctx, step.CompleteWhen)
}

// repeat sends the last question of a waiting step again. If a step has no question, its messages
// are sent again.
func (d *dialog) repeat(ctx context.Context, step *abl.Step) error {
	state := d.mem.state
	if state.Waiting == WaitingCollect {
		return d.log.ask(step.Name.Position, question(state.Collecting))
	}
	if state.Waiting == WaitingGather && step.Gather != nil {
		i := slices.IndexFunc(step.Gather.Fields, func(f abl.Field) bool { return f.Value == state.Collecting })
		if i < 0 {
			return nil
		}
		return d.ask(ctx, step, &step.Gather.Fields[i], true)
	}
	if last := len(state.Transcript) - 1; state.Waiting == WaitingModel {
		if last >= 0 && state.Transcript[last].Role == model.Assistant {
			return d.log.say(step.Name.Position, state.Transcript[last].Content)
		}
		return nil
	}
	for i := range step.Actions {
		if a := &step.Actions[i]; a.Kind == abl.KindRespond {
			if err := d.mem.respond(ctx, a.Respond); err != nil {
				return err
			}
		}
	}
	return nil
}
