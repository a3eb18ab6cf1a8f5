package report

import (
	"encoding/json"

	"github.com/toolrun/toolrun/abi"
)

// Turn is the result of a turn of an agent.
type Turn struct {
	TurnID string `json:"turn_id"`
	// Session is the session of the turn. If the caller has none, the turn begins one.
	Session string `json:"session_id"`
	// Agent is the agent that answers the next message. After a handoff within the app, this is a
	// different agent than before the turn.
	Agent string `json:"agent"`
	// OK reports whether the turn succeeded and all its writes are stored. A turn counts as successful
	// even if a constraint has blocked it. If OK is false, Error is set and nothing was stored.
	OK bool `json:"ok"`
	// Messages are the messages to the user, in order.
	Messages []string `json:"messages"`
	// Step is the step that waits for input, and Collecting is the field that it asks for. Both are
	// nil if there is none.
	Step       *string `json:"step"`
	Collecting *string `json:"collecting"`
	// Done reports whether the flow is complete. Blocked reports whether a constraint stopped the
	// turn.
	Done    bool `json:"done"`
	Blocked bool `json:"blocked"`
	// Escalate reports whether the agent passes the conversation to a person. Handoff is the agent
	// to which the conversation was passed, or nil.
	Escalate bool    `json:"escalate"`
	Handoff  *string `json:"handoff"`
	// Variables are the session variables, masked as declared.
	Variables map[string]any `json:"variables"`
	// Injected are the facts that recalls loaded, by path. Instructions are the texts for a model
	// that recalls added.
	Injected     map[string]any `json:"injected"`
	Instructions []string       `json:"instructions"`
	Warnings     []string       `json:"warnings"`
	Error        *abi.Fault     `json:"error"`
	// Trace lists the evaluated elements, in order. If the turn failed, it ends at the fault.
	Trace []TurnTrace `json:"trace"`
	// Logs are the log lines of the tools that the agent called.
	Logs []abi.LogLine `json:"logs"`
	// Usage and Effects include the tools that the agent called.
	Usage   Usage   `json:"usage"`
	Effects Effects `json:"effects"`
	// Changes are the changes that a dry run would have stored.
	Changes []Change `json:"changes,omitempty"`
	// Orphaned lists the external calls of earlier attempts that the last attempt did not repeat.
	Orphaned []OrphanedCall `json:"orphaned,omitempty"`
	// Attempts is the number of times that the turn was executed. All other fields except Usage are
	// those of the last attempt.
	Attempts int `json:"attempts"`
	// Repeated reports whether this is the result of an earlier turn with the same idempotency key.
	Repeated bool `json:"repeated,omitempty"`
}

// TurnTrace is an entry of the trace of a turn.
type TurnTrace struct {
	// Kind is the kind of the element: activate, step, set, clear, transform, respond, gather,
	// intent, call, check, constraint, recall, trigger, handoff, hook or model.
	Kind string `json:"kind"`
	// Name is the name of the step, variable, tool, path or event.
	Name string `json:"name,omitempty"`
	// Position is the location in the file of the agent, as FILE:LINE.
	Position string `json:"position,omitempty"`
	// Value is the value, masked as declared.
	Value json.RawMessage `json:"value,omitempty"`
	// Result is a word that describes the outcome, such as passed, failed, stored, unchanged or
	// skipped.
	Result string `json:"result,omitempty"`
}
