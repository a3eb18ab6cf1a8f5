package ledger

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/storage"
)

// Entry lists the records that one run, or one action of an operator, has read and written. Entry
// contains names, revisions and schema violations, but never content.
type Entry struct {
	Run string `json:"run_id"`
	// Act is the kind of the action: run, dry_run, turn, evaluate or render. For an operator, Act
	// is operate, list, purge, erase, declare, export, import, download or export_user. For an
	// approval, Act is request_approval, approve, deny or expire_approval.
	Act string `json:"act"`
	// Tool is the name of the tool. For a turn or an evaluation, Tool is the name of the agent.
	Tool string `json:"tool,omitempty"`
	// Approval is the token of a request for approval. If the act concerns an approval, this is the
	// request that was made, decided or expired. If the act is a run, this is the last request that
	// the run needed.
	Approval string `json:"approval,omitempty"`
	// File is the id of a downloaded file.
	File string `json:"file_id,omitempty"`
	// Actor is the name of the API key with which the action was requested. Actor never contains
	// the secret.
	Actor   string `json:"actor,omitempty"`
	User    string `json:"user_id,omitempty"`
	Session string `json:"session_id,omitempty"`
	// Workflow is the id of the workflow to which the run belongs.
	Workflow string `json:"workflow_id,omitempty"`
	// At is the time at which the run or the action began.
	At time.Time `json:"at"`
	// Code is the code of the fault, if the run or the action failed. Otherwise, Code is "".
	Code     abi.Code             `json:"code,omitempty"`
	Attempts int                  `json:"attempts"`
	Reads    []report.ReadEffect  `json:"reads"`
	Writes   []report.WriteEffect `json:"writes"`
	// Models contains the usage of models by the run. Orphaned lists the external calls that
	// earlier attempts of the run made and that the last attempt did not request.
	Models   []report.TargetUsage  `json:"models,omitempty"`
	Orphaned []report.OrphanedCall `json:"orphaned,omitempty"`
	// More is the number of reads and writes that the entry omits because there are too many. The
	// entry still lists each store at least once.
	More int `json:"more,omitempty"`
}

// Decode decodes an entry from its record. If the record is invalid, the error is
// storage.ErrCorrupt.
func Decode(r storage.Record) (Entry, error) {
	var e Entry
	if err := json.Unmarshal(r.Content, &e); err != nil {
		return e, fmt.Errorf("ledger: %w: %w", storage.ErrCorrupt, err)
	}
	return e, nil
}

// touches reports whether the run read or wrote records of a store.
func (e Entry) touches(store string) bool {
	for _, r := range e.Reads {
		if r.Store == store {
			return true
		}
	}
	for _, w := range e.Writes {
		if w.Store == store {
			return true
		}
	}
	return false
}

// Query selects entries. A field with the zero value selects all entries.
type Query struct {
	// After is the field Run of the last entry that the caller already has. Entries are sorted by
	// Run. This order is also the order of time.
	After string
	// Since and Until select entries by time. The time must not be before Since, and must be before
	// Until.
	Since, Until time.Time
	// User, Session, Workflow and Tool select entries whose fields have these values. Store selects
	// entries that contain a read or a write of the store.
	User, Session, Workflow, Tool, Store string
	// Writes selects entries that contain writes.
	Writes bool
	// Failed selects entries with a fault code.
	Failed bool
	// Limit is the maximum number of entries to return. Limit must be at least 1.
	Limit int
}

func (q Query) matches(e Entry) bool {
	return (q.User == "" || q.User == e.User) && (q.Session == "" || q.Session == e.Session) &&
		(q.Workflow == "" || q.Workflow == e.Workflow) && (q.Tool == "" || q.Tool == e.Tool) && (!q.Writes || len(e.Writes) > 0) && (!q.Failed || e.Code != "") &&
		(q.Since.IsZero() || !e.At.Before(q.Since)) && (q.Until.IsZero() || e.At.Before(q.Until)) &&
		(q.Store == "" || e.touches(q.Store))
}
