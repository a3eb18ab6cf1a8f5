package apitypes

import (
	"time"

	"github.com/toolrun/toolrun/host/report"
)

// ApprovalPath is the part of a path that identifies an approval.
type ApprovalPath struct {
	Token string `path:"token" maxLength:"256" doc:"Token of the approval, from the Result of a paused run"`
}

// Approval is an effect that waits or has waited for an approval.
type Approval struct {
	Token    string          `json:"token"`
	RunID    string          `json:"run_id"`
	Tool     string          `json:"tool"`
	User     string          `json:"user_id,omitempty"`
	Session  string          `json:"session_id,omitempty"`
	Workflow string          `json:"workflow_id,omitempty"`
	Binding  ApprovalBinding `json:"binding" doc:"Identity of the permitted call. If a part of the identity differs when the run is executed again, the run pauses again"`
	Effect   report.Effect   `json:"effect" doc:"The call that waits for the approval. The arguments of the call are removed after the decision"`
	// ByUser is true if the user of the run can make the decision about the effect.
	ByUser    bool      `json:"by_user" doc:"Whether the user of the run can decide"`
	Requested time.Time `json:"requested_at"`
	Expires   time.Time `json:"expires_at"`
	State     string    `json:"state" enum:"pending,approved,denied,expired"`
	By        string    `json:"decided_by,omitempty" doc:"Name of the credentials that made the decision"`
	Decided   time.Time `json:"decided_at,omitzero"`
	Reason    string    `json:"reason,omitempty" doc:"The reason of a denial"`
}

// ApprovalBinding identifies the call that an approval permits.
type ApprovalBinding struct {
	Program   string `json:"program" doc:"A digest of the code of the tool"`
	App       string `json:"app" doc:"A digest of the declarations of the app"`
	Step      string `json:"step,omitempty" doc:"The step of the run"`
	Operation string `json:"operation"`
	Arguments string `json:"arguments" doc:"The SHA-256 of the canonical arguments"`
}

// The decisions about an approval.
const (
	Approve = "approve"
	Deny    = "deny"
)

// Decision is a decision about an approval.
type Decision struct {
	Decision string `json:"decision" enum:"approve,deny"`
	Reason   string `json:"reason,omitempty" maxLength:"1000" doc:"Reason of a denial. The error of the run contains the reason"`
}
