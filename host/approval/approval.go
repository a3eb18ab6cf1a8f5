package approval

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/storage"
)

// Retention is the time for which a request for approval can be decided. After this time, the
// request expires.
const Retention = 24 * time.Hour

const (
	// kept is the time for which the record of a request is kept after the request has expired.
	// While the record exists, using the token of the request causes a fault that contains the
	// decision or the time at which the request expired.
	kept = 24 * time.Hour
	// lease is the duration of the lease of a Claim. While a process executes an approved run, it
	// renews the lease; see Keep. If the lease ends, the request is pending again. If the process
	// was only suspended, two executions of the run can exist. At most one of them commits.
	lease = 2 * time.Minute
	// renewal is the interval at which a lease is renewed. This interval is so short that a lease
	// does not end if a few renewals fail.
	renewal = lease / 4
)

// State is the state that a request for approval has.
type State string

// The states. If an approved run fails for a temporary reason, its request is pending again.
const (
	Pending  State = "pending"
	Approved State = "approved"
	Denied   State = "denied"
	Expired  State = "expired"
)

// Binding identifies the effect that an approval permits. When the run is executed again, all these
// values must be the same as before. Otherwise, the approval does not apply.
type Binding struct {
	// Program is a digest of the code of the tool. App is a digest of the declarations of the app.
	Program string `json:"program"`
	App     string `json:"app"`
	// Step is the name of the step that needs the approval. Step can be "".
	Step string `json:"step,omitempty"`
	// Operation is the name of the operation. Arguments is the SHA-256 digest of the arguments in
	// their canonical form.
	Operation string `json:"operation"`
	Arguments string `json:"arguments"`
}

// Approval is a request for approval.
type Approval struct {
	// Token identifies the request. Token is not secret, because deciding a request requires a
	// permission.
	Token string `json:"token"`
	// Run is the id of the run. Tool is the name of the run's tool.
	Run  string `json:"run_id"`
	Tool string `json:"tool"`
	// User, Session and Workflow are the values that the caller of the run has.
	User     string  `json:"user_id,omitempty"`
	Session  string  `json:"session_id,omitempty"`
	Workflow string  `json:"workflow_id,omitempty"`
	Binding  Binding `json:"binding"`
	// Effect is the call of the run that waits for the approval. When the request is decided, the
	// arguments of this call are removed.
	Effect report.Effect `json:"effect"`
	// If ByUser is true, the user of the run can decide the request.
	ByUser    bool      `json:"by_user"`
	Requested time.Time `json:"requested_at"`
	Expires   time.Time `json:"expires_at"`
	State     State     `json:"state"`
	// By is the actor that decided the request. Decided is the time of the decision, and Reason is
	// its reason.
	By      string    `json:"decided_by,omitempty"`
	Decided time.Time `json:"decided_at,omitzero"`
	Reason  string    `json:"reason,omitempty"`
}

// stored is the form in which an Approval is stored.
type stored struct {
	Approval
	// Leased is the time at which the lease of the approved run ends. Leased is zero before the
	// approval and after the run has ended.
	Leased time.Time `json:"leased,omitzero"`
	// Execution counts the executions of the run that have begun.
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

// decode decodes the record of a request. The returned request has the state that it has at the
// time "now".
func decode(r storage.Record, now time.Time) (stored, error) {
	s, err := parse(r)
	return s.at(now), err
}

// The method "at" returns the request. Its state is the state at the time "now".
func (s stored) at(now time.Time) stored {
	if s.State == Approved && !s.Leased.IsZero() && now.After(s.Leased) {
		s.State, s.By, s.Decided, s.Leased = Pending, "", time.Time{}, time.Time{}
	}
	if s.State == Pending && !now.Before(s.Expires) {
		s.State = Expired
	}
	return s
}

// Decode returns the request that a record contains. The state of the request is its state at the
// given time.
func Decode(r storage.Record, at time.Time) (Approval, error) {
	s, err := decode(r, at)
	return s.Approval, err
}
