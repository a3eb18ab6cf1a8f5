package agent

// Rules is the input of Set.Fire, Set.Check and Set.Store, which evaluate the rules of an agent for a
// program that has its own loop of turns.
type Rules struct {
	// Agent is the agent whose rules apply. The default is the agent that answers in the session. In
	// an app with a single agent, the default is that agent.
	Agent string
	// Variables contains the session variables and injected facts of the caller, by name or path. If
	// Variables is nil, the state of the session is used, and recalls inject facts into it. Otherwise
	// only the last stored values of triggers in the state are read and changed.
	Variables map[string]any
	// Event is the event of Fire, such as session:start or tool:search:after.
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

// Evaluation is the result of Fire, Check and Store. Values are masked as declared.
type Evaluation struct {
	Agent string `json:"agent"`
	// Blocked is true if a constraint of severity error failed. Failures contains the constraints that
	// failed, in order. The evaluation stops at the first failed constraint of severity error.
	Blocked  bool      `json:"blocked"`
	Failures []Failure `json:"failures"`
	// Injected contains the facts to add to the variables, by path. Instructions contains the texts
	// for a model.
	Injected     map[string]any `json:"injected"`
	Instructions []string       `json:"instructions"`
	// Stored contains the facts that triggers have stored, by path.
	Stored   map[string]any `json:"stored"`
	Warnings []string       `json:"warnings"`
	Trace    []Trace        `json:"trace"`
}

// Failure is a constraint that failed, with the action that its ON_FAIL declares. The caller must
// perform the action.
type Failure struct {
	// Position is the position of the constraint in the form FILE:LINE. Rule is REQUIRE, LIMIT,
	// RESTRICT or WARN, and Severity is error or warning.
	Position string `json:"position"`
	Rule     string `json:"rule"`
	Severity string `json:"severity"`
	// Message is the rendered message. Show it to the user only if Severity is error.
	Message  string   `json:"message,omitempty"`
	Handoff  string   `json:"handoff,omitempty"`
	Escalate bool     `json:"escalate,omitempty"`
	Collect  []string `json:"collect,omitempty"`
	Goto     string   `json:"goto,omitempty"`
	Retry    bool     `json:"retry,omitempty"`
	// Then is the action after the collection: continue, retry or "".
	Then string `json:"then,omitempty"`
}
