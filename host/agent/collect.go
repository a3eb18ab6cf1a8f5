package agent

import (
	"context"
	"slices"

	"github.com/toolrun/toolrun/host/agent/abl"
)

// beginCollect makes the current step wait for the fields of COLLECT after a constraint has failed.
// The step waits only for the fields that have no value or, if all fields have a value, for all of
// them. If the argument "prompted" is true, the constraint has already sent a message that asks for
// the first field. Otherwise, beginCollect asks for this field. If no step is active, beginCollect
// halts the turn instead.
func (d *dialog) beginCollect(ctx context.Context, constraint int, prompted bool) (control, error) {
	fields := d.mem.agent.Constraints[constraint].OnFail.Collect
	var all, missing []string
	for _, f := range fields {
		set, err := d.isSet(ctx, f.Value)
		if err != nil {
			return control{}, err
		}
		all = append(all, f.Value)
		if !set {
			missing = append(missing, f.Value)
		}
	}
	if len(missing) == 0 {
		missing = all
	}
	if len(missing) == 0 || !d.t.inStep {
		return control{kind: halt}, nil
	}
	d.mem.state.Constraint, d.mem.state.Remaining = constraint, missing
	ctl := d.wait(WaitingCollect, missing[0])
	if prompted {
		return ctl, nil
	}
	return ctl, d.log.ask(fields[0].Position, question(missing[0]))
}

// collect assigns the user's message to the field that a constraint requests. After the last field
// of COLLECT, the step continues at the checkpoint of the constraint. If the constraint has GOTO,
// the turn instead continues with the step that GOTO names. If the constraint has "THEN: continue",
// this checkpoint does not check the constraint again.
func (d *dialog) collect(ctx context.Context, step *abl.Step) (control, error) {
	state := d.mem.state
	d.t.unread = false
	if state.Constraint >= len(d.mem.agent.Constraints) || len(state.Remaining) == 0 {
		return control{kind: again}, nil
	}
	onFail := d.mem.agent.Constraints[state.Constraint].OnFail
	i := slices.IndexFunc(onFail.Collect, func(n abl.Name) bool { return n.Value == state.Remaining[0] })
	if i >= 0 {
		name := onFail.Collect[i]
		if ok, err := d.accept(ctx, name, d.mem.agent.fieldType(step, name.Value), nil); err != nil || !ok {
			return control{kind: wait}, err
		}
	}
	if state.Remaining = state.Remaining[1:]; len(state.Remaining) > 0 {
		return d.wait(WaitingCollect, state.Remaining[0]), d.log.ask(step.Name.Position, question(state.Remaining[0]))
	}
	return d.collected(ctx, step)
}

// collected continues the turn after the last field of COLLECT. The turn continues with the step
// that GOTO names, at the start of the current step, or with the waiting action.
func (d *dialog) collected(ctx context.Context, step *abl.Step) (control, error) {
	state := d.mem.state
	c := &d.mem.agent.Constraints[state.Constraint]
	onFail, excused := c.OnFail, 0
	if onFail.Then == "continue" {
		excused = state.Constraint + 1
	}
	switch {
	case onFail.Goto.Value != "":
		if c.Before == "" { // the step computes the values that the constraint reads
			excused = state.Constraint + 1
		}
		d.leaveIntent(step, true)
		return control{kind: jump, target: onFail.Goto, excused: excused}, nil
	case onFail.Retry || state.Path == nil:
		d.leaveIntent(step, false)
		return control{kind: again, excused: excused}, nil
	}
	return d.continueAt(ctx, step, excused)
}

// continueAt continues the step at the waiting action.
func (d *dialog) continueAt(ctx context.Context, step *abl.Step, excused int) (control, error) {
	path := d.mem.state.Path
	d.t.leaveWait()
	d.t.rules.excused = excused - 1
	switch {
	case path[0] == rootModel && isReasoning(step):
		return d.t.reason.step(ctx, step)
	case path[0] == rootStep:
		return d.t.act(ctx, step, path[1:])
	case path[0] == rootInput && path[1] < len(step.OnInput):
		ctl, err := d.t.acts.root(ctx, path[:2], &step.OnInput[path[1]].Body, path[2:])
		return d.afterInput(ctx, step, ctl, err)
	}
	if in := intentAt(step, path); in != nil {
		return d.runIntent(ctx, step, in, path[:2], path[2:])
	}
	return control{kind: again}, nil
}
