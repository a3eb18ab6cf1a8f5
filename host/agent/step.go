package agent

import (
	"context"

	"github.com/toolrun/toolrun/host/agent/abl"
	"github.com/toolrun/toolrun/host/report"
)

// step runs the current step from its start. If the current step is waiting, the method continues
// the step instead.
func (t *turn) step(ctx context.Context, step *abl.Step) (control, error) {
	t.stepStart = len(t.log.outcome.Messages)
	t.inStep = true
	defer func() { t.inStep = false }()
	if t.mem.state.Waiting == "" {
		return t.enter(ctx, step)
	}
	return t.dialog.resume(ctx, step)
}

// enter runs a step from its start.
func (t *turn) enter(ctx context.Context, step *abl.Step) (control, error) {
	if err := t.countStep(step); err != nil {
		return control{}, err
	}
	entry := report.Trace{Kind: "step", Name: step.Value, Position: t.log.place(step.Name.Position), Result: "entered"}
	if ok, err := t.mem.holds(ctx, step.When); err != nil || !ok {
		entry.Result = "skipped"
		t.log.note(entry)
		return control{}, err
	}
	t.log.note(entry)
	t.mem.resetStep()
	if err := t.rules.fire(ctx, "step:enter:"+step.Value); err != nil {
		return control{}, err
	}
	if ctl, err := t.rules.checkpoint(ctx, CheckpointStep, ""); err != nil || ctl.kind != goOn {
		return ctl, err
	}
	if ctl, stop := t.attempt(step); stop {
		return ctl, nil
	}
	return t.act(ctx, step, nil)
}

// act runs the actions of a step, and then handles the input of the step. If the argument "resume"
// is not empty, it is the position at which the actions continue.
func (t *turn) act(ctx context.Context, step *abl.Step, resume []int) (control, error) {
	body := abl.Body{Actions: step.Actions}
	ctl, err := t.acts.root(ctx, []int{rootStep}, &body, resume)
	switch {
	case err != nil || ctl.kind != goOn:
		return ctl, err
	case isReasoning(step):
		return t.reason.step(ctx, step)
	case len(step.OnInput) > 0:
		return t.dialog.await(ctx, step)
	}
	return control{}, nil
}

// isReasoning reports whether a model executes a step.
func isReasoning(step *abl.Step) bool { return step.Reasoning != nil && *step.Reasoning }

// attempt counts an attempt of a step that has MAX_ATTEMPTS. If the number of attempts exceeds
// MAX_ATTEMPTS, the result "stop" is true.
func (t *turn) attempt(step *abl.Step) (ctl control, stop bool) {
	if step.MaxAttempts == 0 {
		return control{}, false
	}
	state := t.mem.state
	if state.Attempts == nil {
		state.Attempts = map[string]int{}
	}
	state.Attempts[step.Value]++
	if state.Attempts[step.Value] <= step.MaxAttempts {
		return control{}, false
	}
	delete(state.Attempts, step.Value)
	t.log.note(report.Trace{Kind: "step", Name: step.Value, Position: t.log.place(step.Name.Position), Result: "exhausted"})
	if step.OnExhausted.Value == "" {
		return control{kind: escalate}, true
	}
	return control{kind: jump, target: step.OnExhausted}, true
}
