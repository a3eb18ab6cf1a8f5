package report

import "encoding/json"

// Outcome is the outcome of a turn. Outcome contains the answer of the agent and the state of the
// conversation.
type Outcome struct {
	// Agent is the agent that will answer the next message.
	Agent string `json:"agent"`
	// Messages contains the messages to the user, in order.
	Messages []string `json:"messages"`
	// Step is the step that waits for input from the user. Collecting is the field whose value the
	// step requests.
	Step       *string `json:"step"`
	Collecting *string `json:"collecting"`
	// Done is true if the flow of the agent is complete. Blocked is true if a constraint stopped
	// the turn.
	Done    bool `json:"done"`
	Blocked bool `json:"blocked"`
	// Escalate is true if the agent transfers the conversation to a person. If handoffs happened in
	// the turn, Handoff is the agent of the last handoff. Otherwise Handoff is nil.
	Escalate bool    `json:"escalate"`
	Handoff  *string `json:"handoff"`
	// Variables contains the session variables. Sensitive values are masked if their declaration
	// requires it.
	Variables map[string]any `json:"variables"`
	// Injected maps paths to facts. Recalls have loaded these facts in this turn. Instructions
	// contains texts for a model. Recalls have added these texts.
	Injected     map[string]any `json:"injected"`
	Instructions []string       `json:"instructions"`
	// UserMemory contains the memory that the prompts of this turn contained. UserMemory has one
	// entry for each agent that sent a request to a model. UserMemory is empty if no request was
	// sent to a model or if the user has no blocks.
	UserMemory []InjectedMemory `json:"user_memory,omitempty"`
	Warnings   []string         `json:"warnings"`
	// Trace lists the evaluated elements of the agent, in order.
	Trace []Trace `json:"trace"`
}

// NewOutcome returns an empty Outcome of an agent. The lists of the Outcome are not nil. Therefore
// JSON contains empty arrays for these lists.
func NewOutcome(agent string) *Outcome {
	return &Outcome{
		Agent: agent, Messages: []string{}, Variables: map[string]any{}, Injected: map[string]any{},
		Instructions: []string{}, Warnings: []string{}, Trace: []Trace{},
	}
}

// Trace describes one evaluated element of a turn.
type Trace struct {
	// Kind is the kind of the evaluated element: activate, step, set, clear, transform, respond, gather,
	// input, intent, call, check, constraint, recall, trigger, handoff, hook, memory or model.
	Kind string `json:"kind"`
	// Name is the name of the step, variable, tool, path or event.
	Name string `json:"name,omitempty"`
	// Position is the position in the file of the agent, in the form FILE:LINE.
	Position string `json:"position,omitempty"`
	// Value is the value to which the element evaluates. Sensitive values are masked if their
	// declaration requires it.
	Value json.RawMessage `json:"value,omitempty"`
	// Result is a word that describes the outcome, such as "passed", "failed", "stored",
	// "unchanged" or "skipped".
	Result string `json:"result,omitempty"`
}
