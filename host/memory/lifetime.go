package memory

import (
	"time"

	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/txn"
)

// never is a time that is later than the times in all records.
var never = time.Unix(1<<40, 0)

// endOf returns the end of the lifetime of a record. The lifetime ends at the expiry of the record.
// If the retention of the store was shortened after the record was written, the lifetime ends
// earlier. The argument st is nil if the store is no longer declared.
func (st *store) endOf(r storage.Record) time.Time {
	end := never
	if !r.Expires.IsZero() {
		end = r.Expires
	}
	if st != nil && st.Retention.For > 0 {
		if shorter := r.Updated.Add(st.Retention.For); shorter.Before(end) {
			return shorter
		}
	}
	return end
}

// life returns the lifetime of a record in the form that package txn requires. The lifetime ends at
// the expiry of the record. The lifetime ends earlier if the session or the workflow of the record
// ends.
func (t *transaction) life(r storage.Record) txn.Life {
	switch s := t.s; {
	case s.sessions.IsKey(r.Key):
		return s.sessions.Life(r)
	case s.workflows.IsKey(r.Key):
		return s.workflows.Life(r)
	}
	l := txn.Life{Depends: t.foreignEnds(r)}
	if end := t.s.stores[r.Key.Part(storage.Store)].endOf(r); end != never {
		l.Until = end
	}
	return l
}

// foreignEnds returns the keys of the sessions and workflows whose end also ends the record.
// foreignEnds omits the session and the workflow of the caller, because the guards of the
// transaction check these.
func (t *transaction) foreignEnds(r storage.Record) []storage.Key {
	c := t.tx.Caller
	var keys []storage.Key
	for _, tag := range r.Tags {
		if key := endKey(t.s.app, c.Tenant, tag); key != "" && key != t.sessionKey && key != t.workflowKey {
			keys = append(keys, key)
		}
	}
	return keys
}

// endKey returns the key of the session or the workflow that a tag identifies. If the tag
// identifies neither, endKey returns "".
func endKey(app partition.App, tenant, tag string) storage.Key {
	if id, ok := partition.SessionOfTag(tag); ok {
		return app.Session(partition.Caller{Tenant: tenant, Session: id})
	}
	if id, ok := partition.WorkflowOfTag(tag); ok {
		return app.Workflow(partition.Caller{Tenant: tenant, Workflow: id})
	}
	return ""
}
