package agent

import "github.com/toolrun/toolrun/host/agent/abl"

// control is the continuation after an action, a body, a step or a checkpoint. The zero value goes on.
type control struct {
	kind controlKind
	// target is the step of jump or the agent of handoff.
	target abl.Name
	// excused is the index of a constraint plus 1 that does not apply to the step of jump or again,
	// or 0.
	excused int
}

type controlKind uint8

const (
	// goOn continues with the next action, or with the successor of a step.
	goOn controlKind = iota
	// proceed leaves the step for its successor, without the remaining actions of the body.
	proceed
	// jump leaves the step for another one.
	jump
	// again runs the step again from its start.
	again
	// complete ends the flow.
	complete
	// handoff passes the conversation to another agent, and escalate to a person.
	handoff
	escalate
	// halt ends the turn. The step runs again with the next turn.
	halt
	// wait ends the turn. The step waits for input.
	wait
)

// controlOf returns the control of the successor of a body.
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
