package ledger

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/storage"
)

// Entry lists the records that a run or an operator's action read and wrote. Entry contains names,
// revisions and schema violations, but never content.
type Entry struct {
	Run string `json:"run_id"`
	// Act is the kind of the action: run, dry_run, turn, evaluate or render. The acts of operators
	// are operate, list, purge, erase, declare, export, import, download and export_user. The acts
	// for approvals are request_approval, approve, deny and expire_approval.
	Act string `json:"act"`
	// Tool is the name of the tool, or of the agent of a turn or an evaluation.
	Tool string `json:"tool,omitempty"`
	// Approval is the token of the request for approval that the entry is about, or of the last
	// request that the run needed.
	Approval string `json:"approval,omitempty"`
	// File is the id of a downloaded file.
	File string `json:"file_id,omitempty"`
	// Actor is the name of the key with which the action was requested, but never a secret.
	Actor   string `json:"actor,omitempty"`
	User    string `json:"user_id,omitempty"`
	Session string `json:"session_id,omitempty"`
	// Workflow is the id of the workflow that the run belongs to.
	Workflow string `json:"workflow_id,omitempty"`
	// At is the time at which the run or the action began.
	At time.Time `json:"at"`
	// Code is the code of the fault of a failed run or action, or "".
	Code     abi.Code             `json:"code,omitempty"`
	Attempts int                  `json:"attempts"`
	Reads    []report.ReadEffect  `json:"reads"`
	Writes   []report.WriteEffect `json:"writes"`
	// Models is the usage of models. Orphaned lists the external calls of earlier attempts that the
	// last attempt did not repeat.
	Models   []report.TargetUsage  `json:"models,omitempty"`
	Orphaned []report.OrphanedCall `json:"orphaned,omitempty"`
	// More is the number of reads and writes that were omitted because there were too many. Even if
	// effects were omitted, each store is listed at least once.
	More int `json:"more,omitempty"`
}

// Decode decodes the record of an entry. If the record is invalid, the error is storage.ErrCorrupt.
func Decode(r storage.Record) (Entry, error) {
	var e Entry
	if err := json.Unmarshal(r.Content, &e); err != nil {
		return e, fmt.Errorf("ledger: %w: %w", storage.ErrCorrupt, err)
	}
	return e, nil
}

// touches reports whether the run read or wrote a store.
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

// Query selects entries. A field of a query that is zero selects all entries.
type Query struct {
	// After is the Run of the last entry that the caller already has. Entries are sorted by Run,
	// which sorts them by time.
	After string
	// Since and Until select entries with a time at or after Since and before Until.
	Since, Until time.Time
	// User, Session, Workflow and Tool select entries with these values. Store selects entries of
	// runs that read or wrote the store.
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
