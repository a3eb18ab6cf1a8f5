package session

import (
	"context"
	"errors"
	"time"

	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
)

// End ends the caller's session and removes the records that live only as long as the session. The
// session id is rejected from then on. If the session has already ended, its end time does not
// change.
func (s *Sessions) End(ctx context.Context, c partition.Caller) (Session, error) {
	if err := c.Check(); err != nil {
		return Session{}, err
	}
	if err := s.end(ctx, c, nil); err != nil {
		return Session{}, err
	}
	return s.Get(ctx, c)
}

var errUsedAgain = errors.New("the session has been used again")

// end replaces the session with a tombstone and removes the records that live only as long as the
// session. While the tombstone exists, the session id is rejected. If found is not nil, end does
// nothing if the session has changed since found was read.
func (s *Sessions) end(ctx context.Context, c partition.Caller, found *storage.Record) error {
	err := s.leaveTombstone(ctx, c, found)
	if errors.Is(err, errUsedAgain) {
		return nil
	}
	if err != nil {
		return s.db.Fault("end a session", err)
	}
	return s.deleteEnded(ctx, c)
}

// leaveTombstone replaces a session with a tombstone. The tombstone has the tag of the user, so
// erasures and exports can find it. It is kept as long as other records can refer to the session.
func (s *Sessions) leaveTombstone(ctx context.Context, c partition.Caller, found *storage.Record) error {
	key := s.db.App.Session(c)
	return s.db.Backend.Update(ctx, storage.Keys(key), func(now []storage.Record) ([]storage.Write, error) {
		state, err := Decode(now[0])
		if err != nil {
			return nil, err
		}
		if err := checkEnd(now[0], state, c, found); err != nil || state.Ended != nil {
			return nil, err
		}
		at := s.db.Now()
		ended := State{User: state.User, Started: state.Started, Ended: &at, Files: state.Files} // kept after the end
		return s.write(nil, now[0], key, ended, at.Add(max(tombstone, s.cfg.NamedFor)), c)
	})
}

// checkEnd returns an error if the caller is not allowed to end the session.
func checkEnd(r storage.Record, state State, c partition.Caller, found *storage.Record) error {
	if err := checkConfined(c, state); err != nil {
		return err
	}
	if !r.Exists() {
		return errNotFound()
	}
	if state.User != "" && c.User != "" && state.User != c.User {
		return errOtherUser(c)
	}
	if found != nil && !r.SameVersion(*found) {
		return errUsedAgain
	}
	return nil
}

// deleteEnded removes the records that end with the caller's session.
func (s *Sessions) deleteEnded(ctx context.Context, c partition.Caller) error {
	_, err := s.db.DeleteWhere(ctx, s.db.App.Tagged(c, partition.SessionTag(c.Session), ""), func(storage.Head) {})
	return s.db.Fault("remove records", err)
}

// Forget removes the user from the tombstone of the caller's ended session. It also marks the
// session as a session of an erased user.
func (s *Sessions) Forget(ctx context.Context, c partition.Caller) error {
	key, mark := s.db.App.Session(c), s.db.App.ErasedSession(c)
	return s.db.Backend.Update(ctx, storage.Keys(key, mark), func(now []storage.Record) ([]storage.Write, error) {
		state, err := Decode(now[0])
		if err != nil || state.User != c.User || state.Ended == nil {
			return nil, err
		}
		at, by := *state.Ended, partition.Caller{Tenant: c.Tenant, Run: c.Run}
		writes, err := s.db.Write(nil, now[0], key, State{Started: state.Started, Ended: &at}, at.Add(tombstone), by)
		if err != nil {
			return nil, err
		}
		return s.db.Write(writes, now[1], mark, struct{}{}, s.db.Now().Add(partition.ErasedRetention), by)
	})
}

// Sweep ends the sessions of a tenant that were idle at the given time. It also removes the records
// of sessions that have ended since then, because a host can stop after it has ended a session and
// before it has removed the records.
func (s *Sessions) Sweep(ctx context.Context, tenant string, at time.Time) error {
	c := partition.Caller{Tenant: tenant}
	err := s.db.ScanHeads(ctx, s.db.App.System(partition.Session, c), func(heads []storage.Head) error {
		for _, h := range heads {
			if err := s.sweepOne(ctx, c, h.Record, at); err != nil {
				return err
			}
		}
		return nil
	})
	return s.db.Fault("sweep", err)
}

// sweepOne ends one session, unless the session was used after it was found.
func (s *Sessions) sweepOne(ctx context.Context, c partition.Caller, found storage.Record, at time.Time) error {
	c.Session = found.Key.Part(storage.Session)
	ended := !found.Expires.IsZero()
	switch {
	case ended && found.Updated.After(at):
		return s.deleteEnded(ctx, c)
	case ended || at.Before(s.idleEnd(found)):
		return nil
	}
	return s.end(ctx, c, &found)
}
