package agent

import "github.com/toolrun/toolrun/host/model"

// SessionState is the state of the agents in a session.
type SessionState struct {
	// Active is the agent that answers the next message. Active is "" in a new session.
	Active string `json:"active"`
	// Turns is the number of turns.
	Turns int `json:"turns"`
	// Injected contains the values that recalls have loaded for all agents of the session, by path.
	Injected map[string]any `json:"injected,omitempty"`
}

// State is the state of an agent in a session.
type State struct {
	// Variables contains the session variables, by name. Declared variables without an initial value
	// are null. A variable that was cleared is missing. The map is nil if the agent has not been
	// active.
	Variables map[string]any `json:"variables"`
	// Step is the current step, or "" if the flow has not begun or is complete.
	Step string `json:"step,omitempty"`
	// Waiting is the kind of input that the step waits for, or "" if the step runs from its start with the next turn.
	Waiting Waiting `json:"waiting,omitempty"`
	// Path is the position of the waiting action. Path begins with the number of the step's list of
	// actions and an index in this list. Each nested level adds 0 for ON_SUCCESS or 1 for ON_FAIL,
	// and an index. Path is nil if the step waits before or after its actions.
	Path []int `json:"path,omitempty"`
	// Result is the value of call_result at the waiting action.
	Result any `json:"result,omitempty"`
	// Constraint is the index of the constraint that collects fields. Remaining contains the fields
	// that the constraint has not collected yet.
	Constraint int      `json:"constraint,omitempty"`
	Remaining  []string `json:"remaining,omitempty"`
	// Collecting is the field that the step or the constraint asks for.
	Collecting string `json:"collecting,omitempty"`
	// Returns contains the steps to which the conversation returns when the flow ends. The
	// conversation returns to the last step first.
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
	// Stored contains the digests of the values that triggers last stored, by the index of the
	// trigger.
	Stored map[int]string `json:"stored,omitempty"`
}

// Waiting is a kind of input that a step waits for.
type Waiting string

// The kinds of input: the value of a field of GATHER, the input of ON_INPUT, the value of a field that a
// constraint collects, or a message for the model of the step.
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
