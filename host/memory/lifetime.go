package memory

import (
	"time"

	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/session"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/txn"
)

// never is later than every time that a record can hold.
var never = time.Unix(1<<40, 0)

// endOf returns when a record's lifetime ends: when it says so, or earlier if the store's retention has been shortened
// since. The store may be nil, for a record whose store is not declared any more.
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

// life is how long a record lives for the transaction: until its own end, or that of the sessions it ends with.
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

// foreignSessions returns the keys of the sessions whose end is the record's end, but for the caller's own session,
// which is guarded anyhow.
func (t *transaction) foreignSessions(r storage.Record) []storage.Key {
	var keys []storage.Key
	for _, tag := range r.Tags {
		if id, ok := partition.SessionOfTag(tag); ok && id != t.tx.Caller.Session {
			keys = append(keys, t.s.app.Session(partition.Caller{Tenant: t.tx.Caller.Tenant, Session: id}))
		}
	}
	return keys
}
