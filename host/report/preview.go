package report

import (
	"encoding/json"

	"github.com/toolrun/toolrun/abi"
)

// Preview is the result of a preview of a turn: the first request that the turn would send to a
// model. Sensitive values in a Preview are masked as declared.
type Preview struct {
	// TurnID identifies the preview in log lines.
	TurnID string `json:"turn_id"`
	// Session is the session of the preview. A preview does not begin a session.
	Session string `json:"session_id"`
	// Agent is the agent that the turn addresses.
	Agent string `json:"agent"`
	// OK reports whether the turn reached the request or its end. If OK is false, Error is set.
	OK bool `json:"ok"`
	// Prompt is the request, or nil if the turn would send no request.
	Prompt *ModelPrompt `json:"prompt"`
	Error  *abi.Fault   `json:"error"`
	// Effects are the reads of the turn up to the request.
	Effects  Effects `json:"effects"`
	Attempts int     `json:"attempts"`
}

// ModelPrompt is a request to a model.
type ModelPrompt struct {
	// Model is the name of the model.
	Model string `json:"model"`
	// Request is the request, in the form of the argument of model.chat.
	Request json.RawMessage `json:"request"`
}
