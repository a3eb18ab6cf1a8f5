package agent

import (
	"context"

	"github.com/toolrun/toolrun/host/agent/abl"
)

// step runs the current step from its start, or continues where it waits.
func (t *turn) step(ctx context.Context, step *abl.Step) (control, error) {
	t.stepStart = len(t.log.outcome.Messages)
	if t.mem.state.Waiting == "" {
		return t.enter(ctx, step)
	}
	return t.resume(ctx, step)
}

// enter runs a step from its start.
func (t *turn) enter(ctx context.Context, step *abl.Step) (control, error) {
	if err := t.countStep(step); err != nil {
		return control{}, err
	}
	if ok, err := t.mem.holds(ctx, step.When); err != nil || !ok {
		t.log.note(Trace{Kind: "step", Name: step.Value, Position: t.log.place(step.Name.Position), Result: "skipped"})
		return control{}, err
	}
	t.log.note(Trace{Kind: "step", Name: step.Value, Position: t.log.place(step.Name.Position)})
	t.mem.resetStep()
	if err := t.rules.fire(ctx, "step:enter:"+step.Value); err != nil {
		return control{}, err
	}
	if ctl, stop := t.attempt(step); stop {
		return ctl, nil
	}
	if ctl, err := t.rules.checkpoint(ctx, CheckpointStep, ""); err != nil || ctl.kind != goOn {
		return ctl, err
	}
	t.rules.excused = -1
	return t.actions(ctx, step, 0)
}

// actions runs the actions of a step from an index, and what the step does after them.
func (t *turn) actions(ctx context.Context, step *abl.Step, from int) (control, error) {
	for i := from; i < len(step.Actions); i++ {
		t.mem.state.Action = i
		ctl, err := t.action(ctx, step, &step.Actions[i])
		if err != nil || ctl.kind != goOn {
			return ctl, err
		}
	}
	return control{}, nil
}

// attempt counts an attempt of a step with MAX_ATTEMPTS. If there are too many, stop is true.
func (t *turn) attempt(step *abl.Step) (ctl control, stop bool) {
	if step.MaxAttempts == 0 {
		return control{}, false
	}
	if t.mem.state.Attempts == nil {
		t.mem.state.Attempts = map[string]int{}
	}
	t.mem.state.Attempts[step.Value]++
	if t.mem.state.Attempts[step.Value] <= step.MaxAttempts {
		return control{}, false
	}
	delete(t.mem.state.Attempts, step.Value)
	t.log.note(Trace{Kind: "step", Name: step.Value, Position: t.log.place(step.Name.Position), Result: "exhausted"})
	if step.OnExhausted.Value == "" {
		return control{kind: escalate}, true
	}
	return control{kind: jump, target: step.OnExhausted}, true
}

// resume continues a step that waits.
func (t *turn) resume(ctx context.Context, step *abl.Step) (control, error) {
	return control{kind: wait}, nil
}
