package session

import (
	"context"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/records"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/txn"
)

// lifecycle begins, binds and ends the records of a family. The comments on the methods of
// lifecycle describe sessions, but also apply to workflows.
type lifecycle struct {
	of             family
	db             *records.DB
	idle, namedFor time.Duration
}

// tombstoneAge is the time for which the id of an ended session is rejected.
const tombstoneAge = 30 * 24 * time.Hour

// IsKey reports whether a key belongs to the record of a session. For Workflows, IsKey reports
// whether a key belongs to the record of a workflow.
func (l *lifecycle) IsKey(key storage.Key) bool { return key.HasPrefix(l.of.prefix) }

// Open reports whether a record belongs to an open session. The record of an ended session is a
// tombstone, and a tombstone has an expiry time. The record of an open session has no expiry time.
func (l *lifecycle) Open(r storage.Record, at time.Time) bool {
	return r.Exists() && r.Expires.IsZero() && at.Before(l.idleEnd(r))
}

// longAgo is a time in the past. longAgo is the end of the lifetime of every ended session.
var longAgo = time.Unix(0, 0)

// Life returns the lifetime of the session that a record contains.
func (l *lifecycle) Life(r storage.Record) txn.Life {
	if !r.Exists() || !r.Expires.IsZero() { // a tombstone
		return txn.Life{Until: longAgo}
	}
	return txn.Life{Until: l.idleEnd(r)}
}

// idleEnd returns the time at which a session ends if it is not used again. A use is recorded only
// if the last recorded use is older than an eighth of the idle time. Therefore, most runs do not
// write the session. Because not all uses are recorded, idleEnd adds an eighth to the idle time.
func (l *lifecycle) idleEnd(r storage.Record) time.Time {
	return r.Updated.Add(l.idle + l.idle/8)
}

// Check returns a fault if the caller cannot use the session at the given time. The session does
// not need to exist.
func (l *lifecycle) Check(r storage.Record, state State, c partition.Caller, at time.Time) error {
	if err := l.of.checkConfined(c, state); err != nil {
		return err
	}
	ended := r.Exists() && !l.Open(r, at)
	if state.User != "" && state.User != c.User && !(ended && c.User == "") {
		return l.of.errOtherUser(c)
	}
	if ended {
		return abi.Faultf(l.of.ended, "the %s has ended", l.of.noun).WithHint("start a new %s with another id", l.of.noun)
	}
	return nil
}

// CheckCommit returns a fault if the session has ended or was bound to another user since a
// transaction of the caller began. A transaction uses CheckCommit as the check of a guard on the
// session's record.
func (l *lifecycle) CheckCommit(r storage.Record, c partition.Caller, readOnly bool, at time.Time) error {
	if !r.Exists() && readOnly {
		return nil
	}
	if !l.Open(r, at) {
		return abi.Faultf(l.of.ended, "the %s ended during the run; nothing was stored", l.of.noun)
	}
	state, err := Decode(r)
	if err != nil {
		return err
	}
	if state.User != c.User && (state.User != "" || !readOnly) {
		return abi.Faultf(abi.AccessDenied, "the %s was bound to a user during the run; nothing was stored", l.of.noun)
	}
	return nil
}

// read returns the caller's session if the caller is allowed to see the session.
func (l *lifecycle) read(ctx context.Context, c partition.Caller) (storage.Record, State, error) {
	if err := c.Check(); err != nil {
		return storage.Record{}, State{}, err
	}
	r, err := l.db.Get(ctx, l.of.key(l.db.App, c))
	if err != nil {
		return r, State{}, l.db.Fault(l.of.reading(), err)
	}
	state, err := Decode(r)
	if err != nil {
		return r, State{}, l.db.Fault(l.of.reading(), err)
	}
	if err := l.of.checkConfined(c, state); err != nil {
		return r, State{}, err
	}
	if !r.Exists() {
		return r, State{}, l.of.errNotFound()
	}
	if c.User != "" && state.User != "" && state.User != c.User {
		return r, State{}, l.of.errOtherUser(c)
	}
	return r, state, nil
}

// stale returns the state of the caller's session, and whether the use of the session must be
// recorded. stale returns the same errors as Check.
func (l *lifecycle) stale(r storage.Record, c partition.Caller) (State, bool, error) {
	state, err := Decode(r)
	if err != nil {
		return state, false, err
	}
	now := l.db.Now()
	if err := l.Check(r, state, c, now); err != nil {
		return state, false, err
	}
	return state, !r.Exists() || state.User != c.User || now.Sub(r.Updated) > l.idle/8, nil
}

// used returns the state of the caller's session after the use has been recorded.
func (l *lifecycle) used(r storage.Record, c partition.Caller) (State, error) {
	state, err := Decode(r)
	if err != nil {
		return state, err
	}
	now := l.db.Now()
	if err := l.Check(r, state, c, now); err != nil {
		return state, err
	}
	if !r.Exists() {
		state.Started = now
	}
	if state.User == "" {
		state.User = c.User // an anonymous session is bound to a user only once
	}
	return state, nil
}

// write appends the record of a session to the list "writes". The subject of the record is the user
// of the session, not the caller.
func (l *lifecycle) write(writes []storage.Write, now storage.Record, key storage.Key, state State, expires time.Time, c partition.Caller) ([]storage.Write, error) {
	c.User = state.User
	return l.db.Write(writes, now, key, state, expires, c)
}

// endOf returns the time at which a session ended, or nil if the session is open.
func (l *lifecycle) endOf(r storage.Record, state State) *time.Time {
	if end := l.idleEnd(r); state.Ended == nil && !l.db.Now().Before(end) {
		return &end
	}
	return state.Ended
}
