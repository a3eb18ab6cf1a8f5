package agent

import (
	"cmp"
	"context"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/agent/abl"
	"github.com/toolrun/toolrun/host/report"
)

// converse runs the flow of the agent until the turn ends. After a handoff, converse runs the flow
// of the next agent. The argument "ctl" is the control that the method "activate" returned.
func (t *turn) converse(ctx context.Context, ctl control) (err error) {
	for {
		switch ctl.kind {
		case goOn, proceed, again:
			ctl, err = t.run(ctx)
		case jump:
			t.enterAt(ctl)
			ctl, err = t.run(ctx)
		}
		if err == nil {
			ctl, err = t.deliver(ctx, ctl)
		}
		if err == nil && ctl.kind == handoff {
			ctl, err = t.handOver(ctx, ctl.target)
		} else if ctl.kind != jump {
			t.end(ctl)
			return err
		}
		if err != nil {
			return err
		}
	}
}

// enterAt makes the target of a jump the next step.
func (t *turn) enterAt(ctl control) {
	t.rules.excused = ctl.excused - 1
	if t.mem.state.Step == "" {
		t.entry = ctl.target.Value
		return
	}
	t.moveTo(ctl.target.Value)
}

// run runs steps until the agent waits, ends its flow, or hands over to another agent.
func (t *turn) run(ctx context.Context) (control, error) {
	if len(t.mem.agent.Flow.Steps) == 0 {
		return t.delegate(ctx)
	}
	if t.mem.agent.step(t.mem.state.Step) == nil {
		if err := t.beginFlow(ctx); err != nil {
			return control{}, err
		}
	}
	for {
		step := t.mem.agent.step(t.mem.state.Step)
		ctl, err := t.step(ctx, step)
		if err != nil {
			return control{}, err
		}
		switch ctl.kind {
		case wait:
			return ctl, nil
		case halt:
			t.leaveWait()
			return ctl, nil
		case again:
			t.leaveWait()
			t.rules.excused = ctl.excused - 1
			continue
		}
		if err := t.rules.fire(ctx, "step:exit:"+step.Value); err != nil {
			return control{}, err
		}
		if ctl.kind == goOn || ctl.kind == proceed {
			ctl = t.successor(step)
		}
		if ctl.kind == complete && len(t.mem.state.Returns) > 0 {
			return t.comeBack(ctx)
		}
		if ctl.kind != jump {
			return t.leave(ctx, ctl)
		}
		t.moveTo(ctl.target.Value)
		t.rules.excused = ctl.excused - 1
	}
}

// beginFlow enters the first step.
func (t *turn) beginFlow(ctx context.Context) error {
	first := cmp.Or(t.entry, t.mem.agent.Flow.Entry.Value, t.mem.agent.Flow.Steps[0].Value)
	t.entry = ""
	t.moveTo(first)
	t.mem.state.Attempts, t.mem.state.Transcript, t.mem.state.Returns = nil, nil, nil
	if err := t.rules.fire(ctx, "agent:"+t.mem.agent.name+":before"); err != nil {
		return err
	}
	return t.hook(ctx, "before_agent")
}

// comeBack continues the step that an intent with RESUME interrupted, and repeats the question of
// this step.
func (t *turn) comeBack(ctx context.Context) (control, error) {
	s := t.mem.state
	last := len(s.Returns) - 1
	r := s.Returns[last]
	s.Returns = s.Returns[:last]
	t.moveTo(r.Step)
	step := t.mem.agent.step(r.Step)
	if step == nil { // if the file has changed, it might no longer contain the step
		return t.leave(ctx, control{kind: complete})
	}
	s.Waiting, s.Path, s.Collecting, s.Collected = r.Waiting, r.Path, r.Collecting, r.Collected
	return control{kind: wait}, t.dialog.repeat(ctx, step)
}

// delegate hands over to the first agent in HANDOFF whose condition in WHEN is true. delegate is
// called for agents that have no flow.
func (t *turn) delegate(ctx context.Context) (control, error) {
	for i := range t.mem.agent.Handoffs {
		h := &t.mem.agent.Handoffs[i]
		if h.When == nil {
			continue
		}
		if ok, err := t.mem.holds(ctx, h.When); err != nil || ok {
			return control{kind: handoff, target: h.Agent}, err
		}
	}
	return control{kind: halt}, nil
}

// leave ends the flow of the agent. The next turn of the agent begins the flow again.
func (t *turn) leave(ctx context.Context, ctl control) (control, error) {
	t.moveTo("")
	if err := t.hook(ctx, "after_agent"); err != nil {
		return control{}, err
	}
	return ctl, t.rules.fire(ctx, "agent:"+t.mem.agent.name+":after")
}

// moveTo makes a step the current step. The position in the previous step is discarded.
func (t *turn) moveTo(step string) {
	t.mem.state.Step = step
	t.leaveWait()
	t.mem.state.Collected, t.mem.state.Answers = nil, 0
}

func (t *turn) leaveWait() {
	s := t.mem.state
	s.Waiting, s.Path, s.Result, s.Constraint, s.Remaining, s.Collecting = "", nil, nil, 0, nil, ""
}

// successor returns the control that THEN of a step determines. If the step has no THEN, the turn
// continues with the next step in the file.
func (t *turn) successor(step *abl.Step) control {
	if ctl := controlOf(step.Then); ctl.kind != goOn && ctl.kind != proceed {
		return ctl
	}
	if i := t.mem.agent.steps[step.Value] + 1; i < len(t.mem.agent.Flow.Steps) {
		return control{kind: jump, target: t.mem.agent.Flow.Steps[i].Name}
	}
	return control{kind: complete}
}

// deliver runs the hooks at the end of the turn. Then, before the user receives the agent's
// messages, deliver checks the constraints on them.
func (t *turn) deliver(ctx context.Context, ctl control) (control, error) {
	if !t.closed && ctl.kind != handoff {
		t.closed = true
		if err := t.hook(ctx, "after_turn"); err != nil {
			return control{}, err
		}
	}
	if !t.log.hasResult(t.agentStart) {
		return ctl, nil
	}
	checked, err := t.rules.checkpoint(ctx, CheckpointReturning, "")
	if err != nil || checked.kind == goOn {
		return ctl, err
	}
	return checked, nil
}

// end records how the turn ends.
func (t *turn) end(ctl control) {
	t.log.outcome.Done = ctl.kind == complete
	t.log.outcome.Escalate = t.log.outcome.Escalate || ctl.kind == escalate
}

// handOver activates another agent. This agent then answers in the session. handOver returns the
// control that results from the activation.
func (t *turn) handOver(ctx context.Context, target abl.Name) (control, error) {
	name := target.Value
	t.log.note(report.Trace{Kind: "handoff", Name: name, Position: t.log.place(target.Position)})
	t.log.outcome.Handoff = &name
	if len(t.handoffs) == 0 {
		t.handoffs = append(t.handoffs, t.mem.agent.name)
	}
	t.handoffs = append(t.handoffs, name)
	if len(t.handoffs) > MaxHandoffs+1 {
		return control{}, t.log.faultf(target.Position, abi.CallLimit, "the agents %s hand over more than %d times in a turn",
			strings.Join(t.handoffs, " -> "), MaxHandoffs).WithHint("wait for input before the handoff")
	}
	if err := t.mem.join(ctx, name); err != nil {
		return control{}, err
	}
	t.rules.excused = -1 // the index identified a constraint of the previous agent
	t.agentStart = len(t.log.outcome.Messages)
	return t.activate(ctx)
}

// countStep counts the steps of the turn. If a turn runs too many steps, the turn fails. Its fault
// names the steps of the loop.
func (t *turn) countStep(step *abl.Step) error {
	t.steps = append(t.steps, step.Value)
	if len(t.steps) <= MaxSteps {
		return nil
	}
	loop := t.steps
	for i := MaxSteps - 1; i >= 0; i-- {
		if loop[i] == step.Value {
			loop = loop[i:]
			break
		}
	}
	return t.log.faultf(step.Name.Position, abi.CallLimit, "the turn runs more than %d steps without waiting for input: %s",
		MaxSteps, strings.Join(loop, " -> ")).WithHint("wait with GATHER or ON_INPUT, or end with `THEN: COMPLETE`; GATHER waits only if a field has no value, so use CLEAR to collect the fields again")
}
