package report

import "github.com/toolrun/toolrun/abi"

// Evaluation is the result of an evaluation of an agent's rules outside of a turn. Sensitive values
// in an Evaluation are masked as declared.
type Evaluation struct {
	// TurnID identifies the evaluation in the ledger.
	TurnID string `json:"turn_id"`
	// Session is the session of the evaluation. If the caller has no session, the evaluation begins
	// a session.
	Session string `json:"session_id"`
	// OK reports whether the evaluation succeeded and all its writes are stored. If OK is false,
	// Error is set and nothing was stored.
	OK bool `json:"ok"`
	RuleOutcome
	Error   *abi.Fault `json:"error"`
	Usage   Usage      `json:"usage"`
	Effects Effects    `json:"effects"`
	// Changes, Attempts and Repeated have the same meaning as in a Turn.
	Changes  []Change `json:"changes,omitempty"`
	Attempts int      `json:"attempts"`
	Repeated bool     `json:"repeated,omitempty"`
}

// RuleOutcome is the outcome of an evaluation of rules. Sensitive values in a RuleOutcome are
// masked as declared.
type RuleOutcome struct {
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

// NewRuleOutcome returns an empty outcome of an agent's rules. The lists of the outcome are not
// nil, so they are encoded as empty arrays in JSON.
func NewRuleOutcome(agent string) *RuleOutcome {
	return &RuleOutcome{
		Agent: agent, Failures: []Failure{}, Injected: map[string]any{}, Instructions: []string{},
		Stored: map[string]any{}, Warnings: []string{}, Trace: []Trace{},
	}
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
	// The field Then is the action that follows after the fields have been collected: continue,
	// retry or "".
	Then string `json:"then,omitempty"`
}
