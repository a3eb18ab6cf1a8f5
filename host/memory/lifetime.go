package memory

import (
	"time"

	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/session"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/txn"
)

// never is a time that is later than any time in a record.
var never = time.Unix(1<<40, 0)

// endOf returns the end of a record's lifetime: its expiry, or earlier if the retention of the
// store has been shortened since. st is nil if the store is no longer declared.
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

// life returns the lifetime of a record for package txn: until its expiry, or until the end of a
// session that it depends on.
func (t *transaction) life(r storage.Record) txn.Life {
	if session.IsKey(r.Key) {
		return t.s.sessions.Life(r)
	}
	l := txn.Life{Depends: t.foreignSessions(r)}
	if end := t.s.stores[r.Key.Part(storage.Store)].endOf(r); end != never {
		l.Until = end
	}
	return l
}

// foreignSessions returns the keys of the sessions whose end also ends the record's lifetime.
// foreignSessions omits the caller's own session, because the transaction has a guard for that
// session.
func (t *transaction) foreignSessions(r storage.Record) []storage.Key {
	var keys []storage.Key
	for _, tag := range r.Tags {
		if id, ok := partition.SessionOfTag(tag); ok && id != t.tx.Caller.Session {
			keys = append(keys, t.s.app.Session(partition.Caller{Tenant: t.tx.Caller.Tenant, Session: id}))
		}
	}
	return keys
}
