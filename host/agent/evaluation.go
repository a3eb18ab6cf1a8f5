package agent

// Rules is the input of Set.Fire, Set.Check and Set.Store, which evaluate the rules of an agent.
// These methods are for programs that have their own loop of turns.
type Rules struct {
	// Agent is the agent whose rules apply. If Agent is empty, and the app has only one agent, the
	// rules of this agent apply. If the app has several agents, the rules of the agent that answers
	// in the session apply.
	Agent string
	// Variables contains the session variables and the injected facts that the caller passes. The
	// key of a variable is its name, and the key of a fact is its path. If Variables is nil, the
	// variables of the session are used. Recalls then inject facts into the state of the session.
	// If Variables is not nil, the methods use only one part of the session's state: the values
	// that triggers stored last.
	Variables map[string]any
	// Message is the message of the user. Expressions read the message as "input". HasMessage
	// reports whether there is a message.
	Message    string
	HasMessage bool
	// Event is the event of Fire, such as "session:start" or "tool:search:after".
	Event string
	// Checkpoint is the checkpoint at which the method "Check" checks the constraints:
	// CheckpointStep, CheckpointCalling or CheckpointReturning. Tool is the name of the called
	// tool, if the checkpoint is CheckpointCalling.
	Checkpoint string
	Tool       string
}

// The checkpoints of constraints. A constraint without BEFORE applies before each step.
const (
	CheckpointStep      = "step"
	CheckpointCalling   = "calling"
	CheckpointReturning = "returning"
)
