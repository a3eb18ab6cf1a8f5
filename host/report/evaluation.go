package report

import "github.com/toolrun/toolrun/abi"

// Evaluation is the result of an evaluation of rules. The rules of an agent were evaluated outside
// of a turn. In an Evaluation, sensitive values are masked if their declaration requires it.
type Evaluation struct {
	// TurnID identifies the evaluation in ledger entries.
	TurnID string `json:"turn_id"`
	// Session is the session of the evaluation. If the caller has no session, the evaluation begins
	// a session.
	Session string `json:"session_id"`
	// If OK is true, the evaluation has succeeded and all its writes are stored. If OK is false,
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

// A RuleOutcome contains the effects of an evaluation of rules. In a RuleOutcome, sensitive values
// are masked if their declaration requires it.
type RuleOutcome struct {
	Agent string `json:"agent"`
	// Blocked is true if a constraint with the severity "error" failed. Failures contains the
	// failed constraints in the order of their evaluation. The evaluation ends at the first failed
	// constraint with the severity "error".
	Blocked  bool      `json:"blocked"`
	Failures []Failure `json:"failures"`
	// Injected maps paths to facts. The caller must add these facts to the variables. Instructions
	// contains texts that the caller must pass to a model.
	Injected     map[string]any `json:"injected"`
	Instructions []string       `json:"instructions"`
	// Stored maps paths to facts. Triggers have stored these facts.
	Stored   map[string]any `json:"stored"`
	Warnings []string       `json:"warnings"`
	Trace    []Trace        `json:"trace"`
}

// NewRuleOutcome returns an empty RuleOutcome of an agent. The lists of the RuleOutcome are not
// nil. Therefore JSON contains empty arrays.
func NewRuleOutcome(agent string) *RuleOutcome {
	return &RuleOutcome{
		Agent: agent, Failures: []Failure{}, Injected: map[string]any{}, Instructions: []string{},
		Stored: map[string]any{}, Warnings: []string{}, Trace: []Trace{},
	}
}

// A Failure is a constraint that failed. A Failure contains the action that the ON_FAIL of the
// constraint declares. The caller must perform the action.
type Failure struct {
	// Position is the position of the constraint in the form "FILE:LINE". Rule is "REQUIRE",
	// "LIMIT", "RESTRICT" or "WARN". Severity is "error" or "warning".
	Position string `json:"position"`
	Rule     string `json:"rule"`
	Severity string `json:"severity"`
	// Message is the message of the constraint after its template was rendered. The caller must not
	// show it to the user unless Severity is "error".
	Message  string   `json:"message,omitempty"`
	Handoff  string   `json:"handoff,omitempty"`
	Escalate bool     `json:"escalate,omitempty"`
	Collect  []string `json:"collect,omitempty"`
	Goto     string   `json:"goto,omitempty"`
	Retry    bool     `json:"retry,omitempty"`
	// Then is the action that follows after the fields have been collected: "continue", "retry" or
	// "".
	Then string `json:"then,omitempty"`
}
