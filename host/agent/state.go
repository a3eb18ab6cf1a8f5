package agent

import "github.com/toolrun/toolrun/host/model"

// SessionState is the state of the agents in a session.
type SessionState struct {
	// Active is the agent that answers the next message, "" in a new session.
	Active string `json:"active"`
	// Turns is the number of turns.
	Turns int `json:"turns"`
	// Injected are the values that recalls have loaded, by path, for all agents of the session.
	Injected map[string]any `json:"injected,omitempty"`
}

// State is the state of an agent in a session.
type State struct {
	// Variables are the session variables, by name. Declared variables without an initial value are
	// null. A variable that was cleared is missing. The map is nil if the agent has not been active.
	Variables map[string]any `json:"variables"`
	// Step is the current step, or "" if the flow has not begun or is complete.
	Step string `json:"step,omitempty"`
	// Waiting is the kind of input that the step waits for, or "" if the step runs from its start with the next turn.
	Waiting Waiting `json:"waiting,omitempty"`
	// Path is the place of the action that waits: the list of actions of the step, an index in this
	// list, and for each level below it 0 for ON_SUCCESS or 1 for ON_FAIL, and an index. It is nil if
	// the step waits before its actions, or after them.
	Path []int `json:"path,omitempty"`
	// Result is call_result at the action that waits.
	Result any `json:"result,omitempty"`
	// Constraint is the index of the constraint that collects fields, and Remaining are the fields
	// that it has not collected.
	Constraint int      `json:"constraint,omitempty"`
	Remaining  []string `json:"remaining,omitempty"`
	// Collecting is the field that the step or the constraint asks for.
	Collecting string `json:"collecting,omitempty"`
	// Returns are the steps to which the conversation returns when the flow ends, the last one first.
	Returns []Return `json:"returns,omitempty"`
	// Collected are the fields that the step has collected.
	Collected []string `json:"collected,omitempty"`
	// Answers is the number of answers of the model of the step.
	Answers int `json:"answers,omitempty"`
	// Transcript and Instructions are the messages and instructions for the models of the agent.
	Transcript   []model.Message `json:"transcript,omitempty"`
	Instructions []string        `json:"instructions,omitempty"`
	// Attempts are the numbers of attempts of steps that limit them.
	Attempts map[string]int `json:"attempts,omitempty"`
	// Stored are the digests of the values that triggers last stored, by the position of the trigger
	// in the list.
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

// Return is a step that waits while the conversation is elsewhere.
type Return struct {
	Step       string   `json:"step"`
	Waiting    Waiting  `json:"waiting"`
	Path       []int    `json:"path,omitempty"`
	Collecting string   `json:"collecting,omitempty"`
	Collected  []string `json:"collected,omitempty"`
}
