package agent

import "github.com/toolrun/toolrun/host/model"

// SessionState is the state of the agents in a session.
type SessionState struct {
	// Active is the name of the agent that answers the next message. In a new session, Active is
	// "".
	Active string `json:"active"`
	// Turns is the number of turns that were performed in the session.
	Turns int `json:"turns"`
	// Injected contains the values that recalls have loaded. The keys are paths. All agents of the
	// session can read these values.
	Injected map[string]any `json:"injected,omitempty"`
}

// State is the state of an agent in a session.
type State struct {
	// Variables contains the values of the session variables. The keys are the names of the
	// variables. If a declared variable has no initial value, its value is null. If a variable is
	// cleared, it is not in the map. The map is nil if the agent has not been active in the
	// session.
	Variables map[string]any `json:"variables"`
	// Step is the name of the current step. Step is "" if the flow has not begun or is complete.
	Step string `json:"step,omitempty"`
	// Waiting is the kind of input that the step waits for. Waiting is "" if the next turn runs the
	// step from its start.
	Waiting Waiting `json:"waiting,omitempty"`
	// Path identifies the waiting action. The first number in Path identifies a list of actions of
	// the step. The second number is an index in this list. For each nested list, Path contains two
	// more numbers. The first is 0 for ON_SUCCESS or 1 for ON_FAIL, and the second is an index in
	// the nested list. If the step waits for input and no action is waiting, Path is nil.
	Path []int `json:"path,omitempty"`
	// Result is the value that "call_result" has at the waiting action.
	Result any `json:"result,omitempty"`
	// Constraint is the index of the constraint that is collecting fields, if any. Remaining
	// contains those fields that this constraint has not collected yet.
	Constraint int      `json:"constraint,omitempty"`
	Remaining  []string `json:"remaining,omitempty"`
	// Collecting is the field that the step or the constraint requests.
	Collecting string `json:"collecting,omitempty"`
	// Returns contains interrupted steps to which the conversation returns later. The conversation
	// returns first to the last step in Returns.
	Returns []Return `json:"returns,omitempty"`
	// Collected contains the fields that the current step has collected.
	Collected []string `json:"collected,omitempty"`
	// Answers counts the answers that the model of the current step has given.
	Answers int `json:"answers,omitempty"`
	// Transcript and Instructions are for the models of the agent. They contain messages and
	// instructions.
	Transcript   []model.Message `json:"transcript,omitempty"`
	Instructions []string        `json:"instructions,omitempty"`
	// Attempts maps the name of a step that limits its attempts to the number of attempts so far.
	Attempts map[string]int `json:"attempts,omitempty"`
	// Stored contains digests. The key is the index of a trigger, and the value is the digest of
	// the value that this trigger stored last.
	Stored map[int]string `json:"stored,omitempty"`
}

// Waiting is the kind of input for which a step waits.
type Waiting string

// A step can wait for one of these kinds of input. The input is the value of a field of GATHER, the
// input of ON_INPUT, the value of a field that a constraint collects, or a message for the model of
// the step.
const (
	WaitingGather  Waiting = "gather"
	WaitingInput   Waiting = "input"
	WaitingCollect Waiting = "collect"
	WaitingModel   Waiting = "model"
)

// Return is a waiting step that another step has interrupted. The conversation returns to the
// waiting step later.
type Return struct {
	Step       string   `json:"step"`
	Waiting    Waiting  `json:"waiting"`
	Path       []int    `json:"path,omitempty"`
	Collecting string   `json:"collecting,omitempty"`
	Collected  []string `json:"collected,omitempty"`
}
