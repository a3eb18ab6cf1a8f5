package report

import "github.com/toolrun/toolrun/abi"

// Turn is the result of a turn of an agent.
type Turn struct {
	TurnID string `json:"turn_id"`
	// Session is the session of the turn. If the caller has no session, the turn begins a session.
	Session string `json:"session_id"`
	// OK reports whether the turn succeeded and all its writes are stored. A turn counts as successful
	// even if a constraint has blocked it. If OK is false, Error is set and nothing was stored.
	OK bool `json:"ok"`
	// Outcome is empty if the turn failed, except for the agent, the warnings and the trace up to the
	// fault.
	Outcome
	Error *abi.Fault `json:"error"`
	// Logs are the log lines of the tools that the agent called.
	Logs []abi.LogLine `json:"logs"`
	// Usage and Effects include the tools that the agent called.
	Usage   Usage   `json:"usage"`
	Effects Effects `json:"effects"`
	// Changes are the changes that a dry run would have stored.
	Changes []Change `json:"changes,omitempty"`
	// Remembered are the entries of collections that a test run would have stored, with the same
	// meaning as in a Result.
	Remembered []Remembered `json:"remembered,omitzero"`
	// Orphaned lists the external calls of earlier attempts that the last attempt did not repeat.
	Orphaned []OrphanedCall `json:"orphaned,omitempty"`
	// Attempts is the number of times that the turn was executed. All other fields except Usage are
	// from the last attempt.
	Attempts int `json:"attempts"`
	// Repeated is true if this is the result of an earlier turn with the same idempotency key.
	Repeated bool `json:"repeated,omitempty"`
}
