package ledger

import (
	"context"
	"strings"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/records"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/storage"
)

// Config configures a Ledger.
type Config struct {
	// Retention is the time for which the ledger keeps entries. If Retention is 0, the app has no
	// ledger.
	Retention time.Duration
	// MaxBytes is the maximum number of bytes of a tenant's ledger. If the ledger is larger, Trim
	// removes the oldest entries.
	MaxBytes int64
	// Redact returns a copy of a write's violations without any content of the record. Redact is
	// required.
	Redact func(report.WriteEffect) []abi.Violation
}

// Ledger is the ledger of an app. Ledger contains the entries of all tenants. Ledger is safe for
// concurrent use.
type Ledger struct {
	db  *records.DB
	cfg Config
}

// New returns the ledger of the app whose records db contains.
func New(db *records.DB, cfg Config) *Ledger { return &Ledger{db: db, cfg: cfg} }

// Enabled reports whether the app keeps a ledger.
func (l *Ledger) Enabled() bool { return l.cfg.Retention > 0 }

// Prefix returns the key prefix of the ledger entries of the caller's tenant.
func (l *Ledger) Prefix(c partition.Caller) storage.Key { return l.db.App.System(partition.Ledger, c) }

// Key returns the key of the ledger entry of a run. The order of a tenant's keys is the order of
// time, because a run id begins with the time.
func (l *Ledger) Key(c partition.Caller, run string) storage.Key {
	if _, rest, ok := strings.Cut(run, "_"); ok {
		run = rest
	}
	return l.db.App.System(partition.Ledger, c, storage.Part{Tag: storage.Item, Value: run})
}

// Append appends a write to the writes of a commit. The write stores the ledger entry of the
// caller's run.
func (l *Ledger) Append(writes []storage.Write, c partition.Caller, e Entry) ([]storage.Write, error) {
	writer := partition.Caller{Run: c.Run, User: e.User, Session: e.Session, Workflow: e.Workflow}
	return l.db.Write(writes, storage.Record{}, l.Key(c, e.Run), l.bounded(e), l.db.Now().Add(l.cfg.Retention), writer)
}

// Add adds entries to the tenant's ledger. Add skips entries that a commit has already added. If
// the user of an entry was erased after the run began, Add removes the user, the session and the
// workflow from the entry.
func (l *Ledger) Add(ctx context.Context, tenant string, entries []Entry) error {
	if !l.Enabled() || len(entries) == 0 {
		return nil
	}
	a := l.addition(tenant, entries)
	err := l.db.Backend.Update(ctx, storage.Keys(a.keys...), func(now []storage.Record) (writes []storage.Write, err error) {
		for i, e := range entries {
			if now[i].Exists() {
				continue // added by the commit
			}
			if writes, err = l.Append(writes, partition.Caller{Tenant: tenant, Run: e.Run}, a.withoutErased(e, now)); err != nil {
				return nil, err
			}
		}
		return writes, nil
	})
	return l.db.Fault("write the ledger", err)
}

// addition contains the keys that Add reads. These are the keys of the entries, and the keys of the
// marks that exist for erased users, sessions and workflows.
type addition struct {
	keys []storage.Key
	// marks maps the key of a mark to its index in keys.
	marks map[storage.Key]int
	// The function "of" returns the keys of the marks that concern an entry.
	of func(Entry) entryMarks
}

// entryMarks contains the keys of the marks that concern an entry. If the run had a user, the entry
// depends only on the mark of this user.
type entryMarks struct{ user, session, workflow storage.Key }

func (l *Ledger) addition(tenant string, entries []Entry) addition {
	a := addition{
		keys: make([]storage.Key, len(entries)), marks: map[storage.Key]int{},
		of: func(e Entry) entryMarks { return l.marks(tenant, e) },
	}
	for i, e := range entries {
		a.keys[i] = l.Key(partition.Caller{Tenant: tenant}, e.Run)
	}
	for _, e := range entries {
		marks := a.of(e)
		for _, key := range []storage.Key{marks.user, marks.session, marks.workflow} {
			if _, known := a.marks[key]; key != "" && !known {
				a.marks[key] = len(a.keys)
				a.keys = append(a.keys, key)
			}
		}
	}
	return a
}

// marks returns the keys of the marks that concern an entry.
func (l *Ledger) marks(tenant string, e Entry) (marks entryMarks) {
	c := partition.Caller{Tenant: tenant, User: e.User, Session: e.Session, Workflow: e.Workflow}
	if e.User != "" {
		return entryMarks{user: l.db.App.Erased(c)}
	}
	if e.Session != "" && partition.CheckSessionID(e.Session) == nil {
		marks.session = l.db.App.ErasedSession(c)
	}
	if e.Workflow != "" && partition.CheckSessionID(e.Workflow) == nil {
		marks.workflow = l.db.App.ErasedWorkflow(c)
	}
	return marks
}

// withoutErased removes the user, the session and the workflow from an entry if one of them was
// erased after the run began. The argument "now" contains the records that belong to the keys of a.
func (a addition) withoutErased(e Entry, now []storage.Record) Entry {
	marks := a.of(e)
	if r := a.mark(marks.user, now); r.Exists() && !r.Updated.Before(e.At) {
		e.User, e.Session, e.Workflow = "", "", ""
	}
	if a.mark(marks.session, now).Exists() {
		e.Session = ""
	}
	if a.mark(marks.workflow, now).Exists() {
		e.Workflow = ""
	}
	return e
}

// mark returns the mark with the given key. If no such mark exists, the method returns the zero
// Record.
func (a addition) mark(key storage.Key, now []storage.Record) storage.Record {
	if at, ok := a.marks[key]; ok {
		return now[at]
	}
	return storage.Record{}
}
