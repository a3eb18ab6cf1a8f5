package agent

import "github.com/toolrun/toolrun/host/agent/abl"

// control determines how the turn continues after an action, a body, a step or a checkpoint. With
// the zero value, the next action or step runs.
type control struct {
	kind controlKind
	// target is the step that jump leads to, or the agent that handoff leads to.
	target abl.Name
	// excused identifies a constraint that does not apply when jump or again runs a step. It is the
	// index of the constraint plus 1, or 0 if all constraints apply.
	excused int
}

type controlKind uint8

const (
	// goOn continues with the next action, or with the successor of a step.
	goOn controlKind = iota
	// proceed leaves the step and continues with its successor, without the remaining actions of the
	// body.
	proceed
	// jump leaves the step and continues with another step.
	jump
	// The constant "again" means that the step runs again from its start.
	again
	// complete ends the flow.
	complete
	// handoff passes the conversation to another agent, and escalate passes it to a person.
	handoff
	escalate
	// halt ends the turn. The step runs again with the next turn.
	halt
	// wait ends the turn. The step waits for input.
	wait
)

// controlOf returns the control that leads to the successor of a body.
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
