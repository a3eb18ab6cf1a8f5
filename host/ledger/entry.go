package ledger

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/storage"
)

// Entry lists what a run, or an operator's action, read and wrote. It has names, revisions and
// schema violations, never content.
type Entry struct {
	Run string `json:"run_id"`
	// Act is the kind of the action: run, dry_run or render; for operators operate, list, purge,
	// erase, declare, export, import, download or export_user.
	Act  string `json:"act"`
	Tool string `json:"tool,omitempty"`
	// File is the id of the file that was downloaded.
	File string `json:"file_id,omitempty"`
	// Actor is the program of the platform that requested it: the name of a key, never a secret.
	Actor   string `json:"actor,omitempty"`
	User    string `json:"user_id,omitempty"`
	Session string `json:"session_id,omitempty"`
	// At is when the run or the action began.
	At time.Time `json:"at"`
	// Code is the code of its fault, "" if it succeeded.
	Code     abi.Code             `json:"code,omitempty"`
	Attempts int                  `json:"attempts"`
	Reads    []report.ReadEffect  `json:"reads"`
	Writes   []report.WriteEffect `json:"writes"`
	// More counts the reads and writes that were omitted because there are too many. Each store is
	// listed at least once.
	More int `json:"more,omitempty"`
}

// Decode returns the entry in a record. Its error is storage.ErrCorrupt.
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

// Query selects entries. Zero fields select all.
type Query struct {
	// After is the Run of the last known entry. Entries are sorted by id, which is by time.
	After string
	// Since and Until bound the time: at or after Since, before Until.
	Since, Until time.Time
	// User, Session, Tool and Store must be those of the entry. A store is one that it read or
	// wrote.
	User, Session, Tool, Store string
	// Writes selects entries that wrote something.
	Writes bool
	// Failed selects entries that ended with a fault.
	Failed bool
	// Limit is the largest number of entries to return, at least 1.
	Limit int
}

func (q Query) matches(e Entry) bool {
	return (q.User == "" || q.User == e.User) && (q.Session == "" || q.Session == e.Session) &&
		(q.Tool == "" || q.Tool == e.Tool) && (!q.Writes || len(e.Writes) > 0) && (!q.Failed || e.Code != "") &&
		(q.Since.IsZero() || !e.At.Before(q.Since)) && (q.Until.IsZero() || e.At.Before(q.Until)) &&
		(q.Store == "" || e.touches(q.Store))
}
