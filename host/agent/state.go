package agent

import "github.com/toolrun/toolrun/host/model"

// SessionState is the state of the agents in a session.
type SessionState struct {
	// Active is the agent that answers the next message. In a new session, Active is "".
	Active string `json:"active"`
	// Turns is the number of turns.
	Turns int `json:"turns"`
	// Injected contains the values that recalls have loaded for all agents of the session, by path.
	Injected map[string]any `json:"injected,omitempty"`
}

// State is the state of an agent in a session.
type State struct {
	// Variables contains the session variables, by name. A declared variable without an initial
	// value is null. A cleared variable is not in the map. The map is nil if the agent has not been
	// active in the session.
	Variables map[string]any `json:"variables"`
	// Step is the current step, or "" if the flow has not begun or is complete.
	Step string `json:"step,omitempty"`
	// Waiting is the kind of input that the step waits for, or "" if the step runs from its start with the next turn.
	Waiting Waiting `json:"waiting,omitempty"`
	// Path is the position of the waiting action. The first two numbers of Path are the number of a
	// list of actions of the step, and an index in this list. For each nested list, Path contains
	// two more numbers: 0 for ON_SUCCESS or 1 for ON_FAIL, and an index in the nested list. Path is
	// nil if the step waits, but not in one of its actions.
	Path []int `json:"path,omitempty"`
	// Result is the value of "call_result" at the waiting action.
	Result any `json:"result,omitempty"`
	// Constraint is the index of the constraint that collects fields. Remaining contains the fields
	// that the constraint has not collected yet.
	Constraint int      `json:"constraint,omitempty"`
	Remaining  []string `json:"remaining,omitempty"`
	// Collecting is the field for which the step or the constraint asks.
	Collecting string `json:"collecting,omitempty"`
	// Returns contains the steps to which the conversation returns when the flow ends. The
	// conversation returns to the last of these steps first.
	Returns []Return `json:"returns,omitempty"`
	// Collected contains the fields that the step has collected.
	Collected []string `json:"collected,omitempty"`
	// Answers is the number of answers of the model of the step.
	Answers int `json:"answers,omitempty"`
	// Transcript and Instructions contain the messages and the instructions for the models of the
	// agent.
	Transcript   []model.Message `json:"transcript,omitempty"`
	Instructions []string        `json:"instructions,omitempty"`
	// Attempts contains the number of attempts of each step that limits its attempts.
	Attempts map[string]int `json:"attempts,omitempty"`
	// Stored contains, by the index of a trigger, the digest of the value that the trigger stored
	// last.
	Stored map[int]string `json:"stored,omitempty"`
}

// Waiting is a kind of input that a step waits for.
type Waiting string

// The kinds of input for which a step can wait. The input is the value of a field of GATHER, the
// input of ON_INPUT, the value of a field that a constraint collects, or a message for the model of
// the step.
const (
	WaitingGather  Waiting = "gather"
	WaitingInput   Waiting = "input"
	WaitingCollect Waiting = "collect"
	WaitingModel   Waiting = "model"
)

// Return is a waiting step to which the conversation returns from another step.
type Return struct {
	Step       string   `json:"step"`
	Waiting    Waiting  `json:"waiting"`
	Path       []int    `json:"path,omitempty"`
	Collecting string   `json:"collecting,omitempty"`
	Collected  []string `json:"collected,omitempty"`
}
