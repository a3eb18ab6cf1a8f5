package approval

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/storage"
)

// Retention is the time during which a request for approval can be decided. After the Retention,
// the request expires.
const Retention = 24 * time.Hour

const (
	// kept is the time for which the record of a request is kept after its expiry. Until the record
	// is removed, uses of the request's token get a fault that names the decision.
	kept = 24 * time.Hour
	// lease is the time after which a request is pending again, unless the process that executes
	// the approved run has renewed the lease; see Keep. If the process was only suspended, there
	// can be two executions, but only one of the two commits.
	lease = 2 * time.Minute
	// renewal is the interval at which a lease is renewed. Several renewals can fail within a lease.
	renewal = lease / 4
)

// State is the state of a request.
type State string

// The states. A request whose approved run has failed for a temporary reason is pending again.
const (
	Pending  State = "pending"
	Approved State = "approved"
	Denied   State = "denied"
	Expired  State = "expired"
)

// Binding identifies what an approval permits. If one of these values differs when the run is
// executed again, the approval does not apply.
type Binding struct {
	// Program is a digest of the code of the tool, and App is a digest of the declarations of the app.
	Program string `json:"program"`
	App     string `json:"app"`
	// Step is the name of the step that needs the approval, or "".
	Step string `json:"step,omitempty"`
	// Operation is the name of the operation, and Arguments is the SHA-256 of its canonical arguments.
	Operation string `json:"operation"`
	Arguments string `json:"arguments"`
}

// Approval is a request for approval.
type Approval struct {
	// Token identifies the request. Token is not a secret, because a decision requires a
	// permission.
	Token string `json:"token"`
	// Run is the id of the run, and Tool is the name of its tool.
	Run  string `json:"run_id"`
	Tool string `json:"tool"`
	// User, Session and Workflow belong to the caller of the run.
	User     string  `json:"user_id,omitempty"`
	Session  string  `json:"session_id,omitempty"`
	Workflow string  `json:"workflow_id,omitempty"`
	Binding  Binding `json:"binding"`
	// Effect is the call that waits for the approval. The arguments of the call are removed after
	// the decision.
	Effect report.Effect `json:"effect"`
	// ByUser is true if the user of the run can decide the request.
	ByUser    bool      `json:"by_user"`
	Requested time.Time `json:"requested_at"`
	Expires   time.Time `json:"expires_at"`
	State     State     `json:"state"`
	// By is the actor that decided the request at the time Decided, for the reason Reason.
	By      string    `json:"decided_by,omitempty"`
	Decided time.Time `json:"decided_at,omitzero"`
	Reason  string    `json:"reason,omitempty"`
}

// stored is the stored form of an Approval.
type stored struct {
	Approval
	// Leased is the time until which an approved run is being executed. Leased is zero if the run
	// has ended.
	Leased time.Time `json:"leased,omitzero"`
	// Execution is the number of executions of the run that have begun.
	Execution int `json:"execution,omitempty"`
}

// parse decodes the record of a request.
func parse(r storage.Record) (stored, error) {
	var s stored
	if err := json.Unmarshal(r.Content, &s); err != nil {
		return s, fmt.Errorf("approval: %w: %w", storage.ErrCorrupt, err)
	}
	return s, nil
}

// decode decodes the record of a request. The state of the result is the state at the time now.
func decode(r storage.Record, now time.Time) (stored, error) {
	s, err := parse(r)
	return s.at(now), err
}

// at returns the request with its state at the time now.
func (s stored) at(now time.Time) stored {
	if s.State == Approved && !s.Leased.IsZero() && now.After(s.Leased) {
		s.State, s.By, s.Decided, s.Leased = Pending, "", time.Time{}, time.Time{}
	}
	if s.State == Pending && !now.Before(s.Expires) {
		s.State = Expired
	}
	return s
}

// Decode returns the request that a record contains, with its state at the given time.
func Decode(r storage.Record, at time.Time) (Approval, error) {
	s, err := decode(r, at)
	return s.Approval, err
}
