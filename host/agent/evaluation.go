package agent

// Rules is the input of Set.Fire, Set.Check and Set.Store, which evaluate the rules of an agent for a
// program that has its own loop of turns.
type Rules struct {
	// Agent is the agent whose rules apply. The default is the only agent of the app or, if the app
	// has several agents, the agent that answers in the session.
	Agent string
	// Variables contains the session variables and injected facts of the caller, by name or path.
	// If Variables is nil, the variables of the session are used, and recalls inject facts into the
	// state of the session. If Variables is not nil, only one part of the state of the session is
	// read and changed: the values that triggers stored last.
	Variables map[string]any
	// Message is the message of the user, which expressions read as input. HasMessage reports
	// whether there is a message.
	Message    string
	HasMessage bool
	// Event is the event of Fire, such as "session:start" or "tool:search:after".
	Event string
	// Checkpoint is the checkpoint of Check: CheckpointStep, CheckpointCalling or
	// CheckpointReturning. Tool is the tool of CheckpointCalling.
	Checkpoint string
	Tool       string
}

// The checkpoints of constraints. A constraint without BEFORE applies before each step.
const (
	CheckpointStep      = "step"
	CheckpointCalling   = "calling"
	CheckpointReturning = "returning"
)
