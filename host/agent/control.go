package agent

import "github.com/toolrun/toolrun/host/agent/abl"

// control determines how the turn continues after an action, a list of actions, a step or a
// checkpoint. With the zero value, the next action or step runs.
type control struct {
	kind controlKind
	// The field "target" is the next step of "jump", or the next agent of "handoff".
	target abl.Name
	// If "jump" or "again" runs a step, one constraint can be skipped for this step. The field
	// "excused" identifies this constraint. The value of "excused" is the index of the constraint
	// plus 1, or 0 if all constraints apply.
	excused int
}

type controlKind uint8

const (
	// The constant goOn means that the turn continues with the next action, or with the successor
	// of a step.
	goOn controlKind = iota
	// The constant "proceed" means that the turn skips the remaining actions of the step, and
	// continues with the successor of the step.
	proceed
	// The constant "jump" means that the turn leaves the step and continues with another step.
	jump
	// The constant "again" means that the step runs again from its start.
	again
	// The constant "complete" means that the flow ends.
	complete
	// The constant "handoff" passes the conversation to another agent, and "escalate" passes it to
	// a person.
	handoff
	escalate
	// The constant "halt" ends the turn. The step runs again with the next turn.
	halt
	// The constant "wait" ends the turn. The step waits for input.
	wait
)

// controlOf returns the control that leads to the successor of a list of actions.
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
