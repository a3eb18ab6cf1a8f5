package report

import "encoding/json"

// Outcome is the outcome of a turn: the answer of the agent and the state of the conversation.
type Outcome struct {
	// Agent is the agent that answers the next message.
	Agent string `json:"agent"`
	// Messages are the messages to the user, in order.
	Messages []string `json:"messages"`
	// Step is the step that waits for input. Collecting is the field that the step asks for.
	Step       *string `json:"step"`
	Collecting *string `json:"collecting"`
	// Done is true if the flow is complete. Blocked is true if a constraint stopped the turn.
	Done    bool `json:"done"`
	Blocked bool `json:"blocked"`
	// Escalate is true if the agent passes the conversation to a person. Handoff is the agent of the
	// last handoff in the turn, or nil.
	Escalate bool    `json:"escalate"`
	Handoff  *string `json:"handoff"`
	// Variables are the session variables, masked as declared.
	Variables map[string]any `json:"variables"`
	// Injected contains the facts that recalls loaded in this turn, by path. Instructions contains the
	// texts that recalls added for a model.
	Injected     map[string]any `json:"injected"`
	Instructions []string       `json:"instructions"`
	// UserMemory contains the blocks that went into the prompts of models in this turn, one entry
	// for each agent that asked a model. UserMemory is empty if the turn asked no model or the user
	// has no blocks.
	UserMemory []InjectedMemory `json:"user_memory,omitempty"`
	Warnings   []string         `json:"warnings"`
	// Trace lists the evaluated elements, in order.
	Trace []Trace `json:"trace"`
}

// NewOutcome returns an empty outcome of an agent. The lists of the outcome are not nil. Lists
// without items are therefore empty arrays in JSON.
func NewOutcome(agent string) *Outcome {
	return &Outcome{
		Agent: agent, Messages: []string{}, Variables: map[string]any{}, Injected: map[string]any{},
		Instructions: []string{}, Warnings: []string{}, Trace: []Trace{},
	}
}

// Trace is an entry of the trace of a turn.
type Trace struct {
	// Kind is the kind of the evaluated element: activate, step, set, clear, transform, respond, gather,
	// input, intent, call, check, constraint, recall, trigger, handoff, hook, memory or model.
	Kind string `json:"kind"`
	// Name is the name of the step, variable, tool, path or event.
	Name string `json:"name,omitempty"`
	// Position is the position in the file of the agent, in the form FILE:LINE.
	Position string `json:"position,omitempty"`
	// Value is the value of the element. Sensitive values are masked as declared.
	Value json.RawMessage `json:"value,omitempty"`
	// Result is a word that describes the outcome, such as passed, failed, stored, unchanged or
	// skipped.
	Result string `json:"result,omitempty"`
}
