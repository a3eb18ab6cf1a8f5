package report

import (
	"encoding/json"

	"github.com/toolrun/toolrun/abi"
)

// Preview is the result of a preview of a turn. Preview contains the first request that the turn
// would send to a model. In a Preview, sensitive values are masked if their declaration requires
// it.
type Preview struct {
	// TurnID identifies the preview in log lines.
	TurnID string `json:"turn_id"`
	// Session is the session of the preview. A preview does not begin a session.
	Session string `json:"session_id"`
	// Agent is the agent that would process the turn.
	Agent string `json:"agent"`
	// If OK is true, the preview has reached the request or the end of the turn. If OK is false,
	// Error is set.
	OK bool `json:"ok"`
	// Prompt is the first request to a model. If the turn would not send a request, Prompt is nil.
	Prompt *ModelPrompt `json:"prompt"`
	Error  *abi.Fault   `json:"error"`
	// Effects contains the reads that the turn performs before the request.
	Effects  Effects `json:"effects"`
	Attempts int     `json:"attempts"`
}

// ModelPrompt is a request to a model.
type ModelPrompt struct {
	// Model is the name of the model.
	Model string `json:"model"`
	// Request is the request in the format of the argument of "model.chat".
	Request json.RawMessage `json:"request"`
}
