package agent

import "github.com/toolrun/toolrun/host/agent/abl"

// A control determines what the turn does after an action, a list of actions, a step or a
// checkpoint. The zero value of control means that the next action or step runs.
type control struct {
	kind controlKind
	// target is the next step if the kind is "jump", or the next agent if the kind is "handoff".
	target abl.Name
	// excused identifies a constraint that is skipped in the next step, if the kind is "jump" or
	// "again". The value of "excused" is 0 if all constraints apply. Otherwise, the value is the
	// index of the skipped constraint plus 1.
	excused int
}

type controlKind uint8

const (
	// goOn means that the turn continues with the next action. If no next action exists, the turn
	// continues with the successor of the step.
	goOn controlKind = iota
	// proceed means that the turn skips the remaining actions of the step, and continues with the
	// successor of the step.
	proceed
	// jump means that the turn leaves the step and continues with another step.
	jump
	// again means that the step runs again from its start.
	again
	// complete means that the turn ends the flow of the agent.
	complete
	// handoff passes the conversation to another agent, and escalate passes the conversation to a
	// person.
	handoff
	escalate
	// halt means that the turn ends, and that the next turn runs the step again.
	halt
	// wait means that the turn ends, and that the step waits for input.
	wait
)

// controlOf returns the control that leads to a target. The target is the successor of a list of
// actions or of a step. If no successor exists, the kind of the control is goOn.
func controlOf(target abl.Target) control {
	switch target.Kind {
	case abl.TargetStep:
		return control{kind: jump, target: target.Name}
	case abl.TargetComplete:
		return control{kind: complete}
	case abl.TargetContinue:
		return control{kind: proceed}
	case abl.TargetHandoff:
		return control{kind: handoff, target: target.Name}
	case abl.TargetEscalate:
		return control{kind: escalate}
	}
	return control{}
}
