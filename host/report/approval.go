package report

import (
	"encoding/json"
	"time"
)

// Status is the status of a run that has ended or is paused.
type Status string

// The statuses. If the effect of a paused run is approved, the run continues. Before the approval,
// no write of the run is stored.
const (
	Completed Status = "completed"
	Paused    Status = "paused"
	Failed    Status = "failed"
)

// PendingApproval is the approval for which a paused run waits.
type PendingApproval struct {
	// Token identifies the approval. Token is not a secret, because a decision about the approval
	// requires a permission.
	Token string `json:"token"`
	// Step is the name of the machine's step that needs the approval. If the approval is not for a
	// step, Step is "".
	Step string `json:"step,omitempty"`
	// Effect is the call that waits for the approval.
	Effect Effect `json:"effect"`
	// ExpiresAt is the time until which the effect can be approved.
	ExpiresAt time.Time `json:"expires_at"`
}

// An Effect is a call that a tool performs. The call requires an approval.
type Effect struct {
	// Operation is the name of the called function, such as "set_content" or "model.chat".
	Operation string `json:"operation"`
	// Location is the file and the line of the step, such as "order.machine:12". If the tool is not
	// a machine, Location is "".
	Location string `json:"location,omitempty"`
	// Arguments is an object with the arguments of the call. The keys are the names of the
	// parameters. Arguments contains data of the user.
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

// Describe returns a text with the operation, the step and the location, such as "remember in the
// step entry (order.machine:12)". If the step is "", Describe returns only the operation.
func (e Effect) Describe(step string) string {
	if step == "" {
		return e.Operation
	}
	text := e.Operation + " in the step " + step
	if e.Location != "" {
		text += " (" + e.Location + ")"
	}
	return text
}
