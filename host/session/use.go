package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
)

// Start starts the caller's session. If the session is already open, Start changes its metadata and
// references.
func (s *Sessions) Start(ctx context.Context, c partition.Caller, start Start) (Session, error) {
	if c.Session == "" {
		return Session{}, abi.Faultf(abi.InvalidArgument, "the session has no id")
	}
	if err := c.Check(); err != nil {
		return Session{}, err
	}
	if err := s.Use(ctx, c, start); err != nil {
		return Session{}, err
	}
	return s.Get(ctx, c)
}

// Use starts the caller's session if the session does not exist. Use binds the session to the
// caller's user, records the use, and applies the argument "start". Use writes only if the session
// changes.
func (s *Sessions) Use(ctx context.Context, c partition.Caller, start Start) error {
	patch, err := s.metadata.Patch(start.Metadata)
	if err != nil {
		return err
	}
	if err := start.check(); err != nil {
		return err
	}
	key := s.db.App.Session(c)
	err = s.db.Update(ctx, c, []storage.Key{key}, func(now []storage.Record) ([]storage.Write, error) {
		state, err := s.next(now[0], c, start, patch)
		if err != nil {
			return nil, err
		}
		return s.write(nil, now[0], key, state, time.Time{}, c)
	})
	return s.db.Fault("use a session", err)
}

// Stale reports whether the caller's session must be written before a run. A write is necessary if
// the session has not started, if the session is not bound to the caller's user, or if the argument
// "start" changes the session. The session must also be written if its last recorded use was too
// long ago. Stale returns the same errors as Check.
func (s *Sessions) Stale(r storage.Record, c partition.Caller, start Start) (bool, error) {
	if c.Session == "" {
		return false, nil
	}
	state, stale, err := s.stale(r, c)
	if err != nil {
		return false, err
	}
	changes := !absent(start.Metadata) ||
		start.Reference != "" && start.Reference != state.Reference ||
		start.UserReference != "" && start.UserReference != state.UserReference
	return changes || stale, nil
}

// absent returns true if a merge patch is missing or null. A missing patch has the same meaning as
// null.
func absent(text json.RawMessage) bool {
	return len(text) == 0 || bytes.Equal(bytes.TrimSpace(text), []byte("null"))
}

// The method "next" returns the state of the session after a use.
func (s *Sessions) next(r storage.Record, c partition.Caller, start Start, patch any) (State, error) {
	state, err := s.used(r, c)
	if err != nil {
		return state, err
	}
	return s.with(state, start, patch)
}

// Preview returns the state that the session would have after the argument "start" is applied.
// Preview writes nothing.
func (s *Sessions) Preview(state State, start Start) (State, error) {
	patch, err := s.metadata.Patch(start.Metadata)
	if err != nil {
		return state, err
	}
	return s.with(state, start, patch)
}

// WithoutSession returns the state for a run without a session. In this state, only the metadata
// from the argument "start" is set.
func (s *Sessions) WithoutSession(start Start) (State, error) {
	if err := start.check(); err != nil {
		return State{}, err
	}
	return s.Preview(State{}, Start{Metadata: start.Metadata})
}

// The method "with" returns a copy of the session. The copy contains the references in the argument
// "start", and the metadata after the patch has been applied.
func (s *Sessions) with(state State, start Start, patch any) (_ State, err error) {
	if start.Reference != "" {
		state.Reference = start.Reference
	}
	if start.UserReference != "" {
		state.UserReference = start.UserReference
	}
	if patch != nil {
		state.Metadata, err = s.metadata.Merge(state.Metadata, patch)
	}
	return state, err
}

// FilesChange is a change to the list of a session's files.
type FilesChange struct {
	// Keys are the keys of additional records that Update and Writes need.
	Keys []storage.Key
	// EvenEnded allows the change even if the session has ended.
	EvenEnded bool
	// Update returns the new list. The arguments of Update are the records under Keys, and the
	// current list of files. If the session has no list, the current list is nil. Update can be
	// called several times, so it must be a pure function.
	Update func(found []storage.Record, files json.RawMessage) (json.RawMessage, error)
	// Writes are written in the same commit as the changed list.
	Writes []storage.Write
}

// ChangeFiles changes the list of files of the caller's session. The session must exist, and the
// caller must be allowed to use the session.
func (s *Sessions) ChangeFiles(ctx context.Context, c partition.Caller, change FilesChange) error {
	keys := append([]storage.Key{s.db.App.Session(c)}, change.Keys...)
	return s.db.Update(ctx, c, keys, func(now []storage.Record) ([]storage.Write, error) {
		state, err := Decode(now[0])
		if err != nil {
			return nil, err
		}
		if !now[0].Exists() && !c.Confined {
			return nil, s.of.errNotFound()
		}
		if err := s.Check(now[0], state, c, s.db.Now()); err != nil && !(change.EvenEnded && errors.Is(err, abi.SessionEnded)) {
			return nil, err
		}
		if state.Files, err = change.Update(now[1:], state.Files); err != nil {
			return nil, err
		}
		writes, err := s.write(nil, now[0], keys[0], state, now[0].Expires, c) // a tombstone stays a tombstone after a change
		return append(writes, change.Writes...), err
	})
}
