package memory

import (
	"context"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/session"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/txn"
)

// anchors are two host records that a transaction depends on: the record of the caller's session,
// and the mark that exists if the caller's user was erased.
type anchors struct {
	// sessionKey is the key of the session, and erasedKey is the key of the mark. A key is "" if
	// the caller has no session or no user.
	sessionKey, erasedKey storage.Key
	session, erased       storage.Record
	// anonymous is the content of sessionMeta if the caller has no session.
	anonymous session.State
}

// begin reads the anchors, and starts the session if it has not started yet.
func (t *transaction) begin(ctx context.Context) error {
	if t.tx.Caller.Session == "" {
		anonymous, err := t.s.sessions.WithoutSession(t.tx.Session)
		if err != nil {
			return err
		}
		t.anonymous = anonymous
	}
	keys := t.anchorKeys()
	if len(keys) == 0 {
		return nil
	}
	start := t.tx.Session
	for range 2 {
		records, err := t.s.backend.Get(ctx, keys...)
		if err != nil {
			return err
		}
		t.setAnchors(records)
		stale, err := t.s.sessions.Stale(t.session, t.tx.Caller, start)
		if err != nil || !stale || t.tx.ReadOnly {
			return err
		}
		if err := t.s.sessions.Use(ctx, t.tx.Caller, start); err != nil {
			return err
		}
		start = session.Start{}
	}
	return nil
}

// anchorKeys returns the keys of the anchors that the caller has.
func (t *transaction) anchorKeys() []storage.Key {
	c, keys := t.tx.Caller, make([]storage.Key, 0, 2)
	if c.Session != "" {
		t.sessionKey = t.s.app.Session(c)
		keys = append(keys, t.sessionKey)
	}
	if c.User != "" {
		t.erasedKey = t.s.app.Erased(c)
		keys = append(keys, t.erasedKey)
	}
	return keys
}

// setAnchors sets the anchors to the records that were read under anchorKeys.
func (t *transaction) setAnchors(records []storage.Record) {
	if t.tx.Caller.Session != "" {
		t.session, records = records[0], records[1:]
	}
	if t.tx.Caller.User != "" {
		t.erased = records[0]
	}
}

// guards returns the conditions on the anchors and on the idempotency key.
func (t *transaction) guards() []txn.Guard {
	guards, c := make([]txn.Guard, 0, 3), t.tx.Caller
	if c.Session != "" {
		guards = append(guards, txn.Guard{Key: t.sessionKey, Check: t.checkSession})
	}
	if c.User != "" {
		guards = append(guards, txn.Guard{Key: t.erasedKey, Check: func(now storage.Record, _ time.Time) error {
			return erasedSince(t.erased, now)
		}})
	}
	if t.tx.Key != "" {
		guards = append(guards, txn.Guard{Key: t.s.app.Finished(c, t.tx.Key), Check: t.checkKey})
	}
	return guards
}

// checkSession returns a fault if the session has ended or was bound to another user since the
// transaction began.
func (t *transaction) checkSession(r storage.Record, at time.Time) error {
	if !r.Exists() && t.tx.ReadOnly {
		return nil
	}
	if !t.s.sessions.Open(r, at) {
		return abi.Faultf(abi.SessionEnded, "the session ended during the run; nothing was stored")
	}
	state, err := session.Decode(r)
	if err != nil {
		return err
	}
	if state.User != t.tx.Caller.User && (state.User != "" || !t.tx.ReadOnly) {
		return abi.Faultf(abi.AccessDenied, "the session was bound to a user during the run; nothing was stored")
	}
	return nil
}

// erasedSince returns a fault if the user was erased between two reads of the erasure mark. If the
// erasure mark no longer exists, a sweep has removed the mark.
func erasedSince(before, now storage.Record) error {
	if !now.Exists() || now.SameVersion(before) && now.Updated.Equal(before.Updated) {
		return nil
	}
	return abi.Faultf(abi.Cancelled, "the user was erased during the run; nothing was stored")
}

// earlierAnswer is the error that ends a transaction if another transaction has used its
// idempotency key in the meantime.
type earlierAnswer struct{ answer []byte }

func (earlierAnswer) Error() string { return "an earlier run used the same idempotency key" }

// checkKey returns an error if the transaction's idempotency key has been used.
func (t *transaction) checkKey(r storage.Record, _ time.Time) error {
	answer, err := t.finished(r)
	if err == nil && answer != nil {
		return earlierAnswer{answer}
	}
	return err
}
