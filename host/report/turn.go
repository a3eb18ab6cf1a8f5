package report

import "github.com/toolrun/toolrun/abi"

// Turn is the result of one turn of an agent.
type Turn struct {
	TurnID string `json:"turn_id"`
	// Session is the session of the turn. If the caller has no session, the turn begins a session.
	Session string `json:"session_id"`
	// If OK is true, the turn has succeeded and all its writes are stored. If a constraint has
	// blocked a turn, the turn nevertheless counts as successful. If OK is false, Error is set and
	// nothing was stored.
	OK bool `json:"ok"`
	// If the turn failed, Outcome contains only the agent, the warnings and the trace up to the
	// fault.
	Outcome
	Error *abi.Fault `json:"error"`
	// Logs contains the log lines of the tools that the agent called.
	Logs []abi.LogLine `json:"logs"`
	// Usage and Effects include the usage and the effects of the tools that the agent called.
	Usage   Usage   `json:"usage"`
	Effects Effects `json:"effects"`
	// Changes contains the changes that a dry run did not store.
	Changes []Change `json:"changes,omitempty"`
	// Remembered contains the entries that a test run would have added to collections. Remembered
	// has the same meaning as in a Result.
	Remembered []Remembered `json:"remembered,omitzero"`
	// Orphaned lists external calls of earlier attempts. The last attempt did not repeat the
	// orphaned calls.
	Orphaned []OrphanedCall `json:"orphaned,omitempty"`
	// Attempts is the number of times that the turn was executed. All other fields except Usage
	// describe only the last attempt.
	Attempts int `json:"attempts"`
	// If Repeated is true, this is the result of an earlier turn with the same idempotency key.
	Repeated bool `json:"repeated,omitempty"`
}
