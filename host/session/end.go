package session

import (
	"context"
	"errors"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
)

// End ends the caller's session and removes the records that live only as long as the session.
// After the session has ended, requests with the session id are rejected. If the session has
// already ended, its end time does not change.
func (s *Sessions) End(ctx context.Context, c partition.Caller) (Session, error) {
	if err := c.Check(); err != nil {
		return Session{}, err
	}
	if err := (ending{&s.lifecycle, c, nil}).run(ctx); err != nil {
		return Session{}, err
	}
	return s.Get(ctx, c)
}

var errUsedAgain = errors.New("used again")

// ending ends the caller's session. While a session has a tombstone, requests with its id are
// rejected.
type ending struct {
	*lifecycle
	caller partition.Caller
	// found is the record of the session that a sweep has found, or nil. If the session has changed
	// since the sweep found the session, the session stays open.
	found *storage.Record
}

// run replaces the session with a tombstone and removes the records that live only as long as the
// session.
func (e ending) run(ctx context.Context) error {
	err := e.leaveTombstone(ctx)
	if errors.Is(err, errUsedAgain) {
		return nil
	}
	if err != nil {
		return e.db.Fault("end a "+e.of.noun, err)
	}
	return e.deleteRecords(ctx)
}

// leaveTombstone replaces a session with a tombstone. The tombstone has the tag of the user, so
// erasures and exports can find it. The tombstone is kept as long as other records can refer to the
// session.
func (e ending) leaveTombstone(ctx context.Context) error {
	key := e.of.key(e.db.App, e.caller)
	return e.db.Backend.Update(ctx, storage.Keys(key), func(now []storage.Record) ([]storage.Write, error) {
		state, err := Decode(now[0])
		if err != nil {
			return nil, err
		}
		if err := e.check(now[0], state); err != nil || state.Ended != nil {
			return nil, err
		}
		return e.tombstone(now[0], state)
	})
}

// tombstone returns the write that replaces a session with a tombstone.
func (e ending) tombstone(r storage.Record, state State) ([]storage.Write, error) {
	at := e.db.Now()
	ended := State{User: state.User, Started: state.Started, Ended: &at, Files: state.Files} // kept after the end
	return e.write(nil, r, e.of.key(e.db.App, e.caller), ended, at.Add(max(tombstoneAge, e.namedFor)), e.caller)
}

// check returns an error if the caller is not allowed to end the session.
func (e ending) check(r storage.Record, state State) error {
	if err := e.of.checkConfined(e.caller, state); err != nil {
		return err
	}
	if !r.Exists() {
		return e.of.errNotFound()
	}
	if state.User != "" && e.caller.User != "" && state.User != e.caller.User {
		return e.of.errOtherUser(e.caller)
	}
	if e.found != nil && !r.SameVersion(*e.found) {
		return errUsedAgain
	}
	return nil
}

// deleteRecords removes the records that end with the session.
func (e ending) deleteRecords(ctx context.Context) error {
	tag := e.of.tag(e.of.id(e.caller))
	_, err := e.db.DeleteWhere(ctx, e.db.App.Tagged(e.caller, tag, ""), func(storage.Head) {})
	return e.db.Fault("remove records", err)
}

// sweep ends the session under two conditions: the session was idle at the given time, and it was
// not used after the sweep found it.
func (e ending) sweep(ctx context.Context, at time.Time, before BeforeEnd) error {
	ended := !e.found.Expires.IsZero()
	switch {
	case ended && e.found.Updated.After(at):
		return e.deleteRecords(ctx)
	case ended || at.Before(e.idleEnd(*e.found)):
		return nil
	case before != nil && !before(ctx, e.caller.Tenant, e.of.id(e.caller)):
		return nil
	}
	return e.run(ctx)
}

// BeforeEnd is called with the id of an idle session before a sweep ends the session. If BeforeEnd returns
// false, the session stays until the next sweep.
type BeforeEnd func(ctx context.Context, tenant, session string) (proceed bool)

// Forget removes the user from the tombstone of the caller's ended session. Forget also marks the
// session as a session of an erased user.
func (l *lifecycle) Forget(ctx context.Context, c partition.Caller) error {
	key, mark := l.of.key(l.db.App, c), l.of.erased(l.db.App, c)
	return l.db.Backend.Update(ctx, storage.Keys(key, mark), func(now []storage.Record) ([]storage.Write, error) {
		state, err := Decode(now[0])
		if err != nil || state.User != c.User || state.Ended == nil {
			return nil, err
		}
		at, by := *state.Ended, partition.Caller{Tenant: c.Tenant, Run: c.Run}
		writes, err := l.db.Write(nil, now[0], key, State{Started: state.Started, Ended: &at}, at.Add(tombstoneAge), by)
		if err != nil {
			return nil, err
		}
		return l.db.Write(writes, now[1], mark, struct{}{}, l.db.Now().Add(partition.ErasedRetention), by)
	})
}

// Sweep ends the sessions of a tenant that were idle at the given time. Sweep also removes the
// records of sessions that have ended earlier, because a host can stop between the end of a session
// and the removal of the session's records. The argument "before" of Sweep can be nil.
func (l *lifecycle) Sweep(ctx context.Context, tenant string, at time.Time, before BeforeEnd) error {
	c := partition.Caller{Tenant: tenant}
	err := l.db.ScanHeads(ctx, l.db.App.System(l.of.kind, c), func(heads []storage.Head) error {
		for _, h := range heads {
			named := l.of.with(c, h.Key.Part(l.of.part))
			if err := (ending{l, named, &h.Record}).sweep(ctx, at, before); err != nil {
				return err
			}
		}
		return nil
	})
	return l.db.Fault("sweep", err)
}

// CheckIdle returns nil if the session of a record is idle and has not ended. Otherwise, CheckIdle
// returns a fault. An idle session may be used only to end the session.
func CheckIdle(s *Sessions, r storage.Record, c partition.Caller, at time.Time) error {
	state, err := Decode(r)
	if err != nil {
		return err
	}
	if !r.Exists() || !r.Expires.IsZero() || s.Open(r, at) || state.User != c.User {
		return abi.Faultf(abi.SessionEnded, "the session is not an idle session of this user")
	}
	return nil
}

// Tombstone returns the write that ends the session of a record.
func Tombstone(s *Sessions, r storage.Record, c partition.Caller) (storage.Write, error) {
	state, err := Decode(r)
	if err != nil {
		return storage.Write{}, err
	}
	writes, err := (ending{&s.lifecycle, c, nil}).tombstone(r, state)
	if err != nil {
		return storage.Write{}, err
	}
	return writes[0], nil
}
