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

// Start starts the caller's session, or changes the metadata and references of an open one.
func (s *Sessions) Start(ctx context.Context, c partition.Caller, start Start) (Session, error) {
	if c.Session == "" {
		return Session{}, abi.Faultf(abi.InvalidArgument, "a session needs an id")
	}
	if err := c.Check(); err != nil {
		return Session{}, err
	}
	if err := s.Use(ctx, c, start); err != nil {
		return Session{}, err
	}
	return s.Get(ctx, c)
}

// Use starts the caller's session if it does not exist, binds it to the caller's user, records the
// use, and applies start. It writes only if something changes.
func (s *Sessions) Use(ctx context.Context, c partition.Caller, start Start) error {
	patch, err := s.cfg.Metadata.Patch(start.Metadata)
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

// Stale reports whether the caller's session must be written before a run: it has not begun, is not
// bound to its user, was last recorded as used too long ago, or start changes it. The error is that
// of Check.
func (s *Sessions) Stale(r storage.Record, c partition.Caller, start Start) (bool, error) {
	if c.Session == "" {
		return false, nil
	}
	state, err := Decode(r)
	if err != nil {
		return false, err
	}
	now := s.db.Now()
	if err := s.Check(r, state, c, now); err != nil {
		return false, err
	}
	changes := !absent(start.Metadata) ||
		start.Reference != "" && start.Reference != state.Reference ||
		start.UserReference != "" && start.UserReference != state.UserReference
	return changes || !r.Exists() || state.User != c.User || now.Sub(r.Updated) > s.cfg.Idle/8, nil
}

// absent reports whether there is no merge patch; null means the same.
func absent(text json.RawMessage) bool {
	return len(text) == 0 || bytes.Equal(bytes.TrimSpace(text), []byte("null"))
}

// next returns the state of the session after a use.
func (s *Sessions) next(r storage.Record, c partition.Caller, start Start, patch any) (State, error) {
	state, err := Decode(r)
	if err != nil {
		return state, err
	}
	now := s.db.Now()
	if err := s.Check(r, state, c, now); err != nil {
		return state, err
	}
	if !r.Exists() {
		state.Started = now
	}
	if state.User == "" {
		state.User = c.User // an anonymous session is bound once
	}
	return s.with(state, start, patch)
}

// Preview returns the session as start would change it.
func (s *Sessions) Preview(state State, start Start) (State, error) {
	patch, err := s.cfg.Metadata.Patch(start.Metadata)
	if err != nil {
		return state, err
	}
	return s.with(state, start, patch)
}

// WithoutSession returns the state that a run without a session shows: only the metadata of start.
func (s *Sessions) WithoutSession(start Start) (State, error) {
	if err := start.check(); err != nil {
		return State{}, err
	}
	return s.Preview(State{}, Start{Metadata: start.Metadata})
}

// with returns the session with new references and a merge patch applied to its metadata.
func (s *Sessions) with(state State, start Start, patch any) (_ State, err error) {
	if start.Reference != "" {
		state.Reference = start.Reference
	}
	if start.UserReference != "" {
		state.UserReference = start.UserReference
	}
	if patch != nil {
		state.Metadata, err = s.cfg.Metadata.Merge(state.Metadata, patch)
	}
	return state, err
}

// write appends the record of a session to writes. Its subject is the session's user, not the
// caller.
func (s *Sessions) write(writes []storage.Write, now storage.Record, key storage.Key, state State, expires time.Time, c partition.Caller) ([]storage.Write, error) {
	c.User = state.User
	return s.db.Write(writes, now, key, state, expires, c)
}

// FilesChange is a change to the list of a session's files.
type FilesChange struct {
	// Keys are the keys of further records that Decide needs.
	Keys []storage.Key
	// EvenEnded allows the change in an ended session.
	EvenEnded bool
	// Update returns the new list, given the records with Keys and the current list, nil if there
	// is none. It must be pure.
	Update func(found []storage.Record, files json.RawMessage) (json.RawMessage, error)
	// Writes are stored together with the list.
	Writes []storage.Write
}

// ChangeFiles changes the list of files of the caller's session, which must exist and be usable by
// the caller.
func (s *Sessions) ChangeFiles(ctx context.Context, c partition.Caller, change FilesChange) error {
	keys := append([]storage.Key{s.db.App.Session(c)}, change.Keys...)
	return s.db.Update(ctx, c, keys, func(now []storage.Record) ([]storage.Write, error) {
		state, err := Decode(now[0])
		if err != nil {
			return nil, err
		}
		if !now[0].Exists() && !c.Confined {
			return nil, errNotFound()
		}
		if err := s.Check(now[0], state, c, s.db.Now()); err != nil && !(change.EvenEnded && errors.Is(err, abi.SessionEnded)) {
			return nil, err
		}
		if state.Files, err = change.Update(now[1:], state.Files); err != nil {
			return nil, err
		}
		writes, err := s.write(nil, now[0], keys[0], state, now[0].Expires, c) // a tombstone stays one
		return append(writes, change.Writes...), err
	})
}
