package session

import (
	"context"
	"encoding/json"
	"time"

	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/records"
	"github.com/toolrun/toolrun/host/storage"
)

// Config configures Sessions. All fields of Config except NamedFor are required.
type Config struct {
	// Idle is the time after which an unused session ends. The actual time can be up to an eighth
	// longer than Idle.
	Idle time.Duration
	// NamedFor is the time for which other records can refer to an ended session. The id of an
	// ended session is rejected for at least NamedFor.
	NamedFor time.Duration
	Metadata Metadata
}

// Metadata decodes and merges the metadata of sessions within the limits of the app.
type Metadata interface {
	// Patch decodes a JSON Merge Patch (RFC 7396). If the caller passes no patch, Patch returns
	// nil.
	Patch(text json.RawMessage) (any, error)
	// Merge applies a patch to metadata and returns the result. The argument "old" is nil if the
	// session has no metadata yet.
	Merge(old json.RawMessage, patch any) (json.RawMessage, error)
}

// Sessions provides access to the sessions of an app in all tenants. Sessions is safe for
// concurrent use.
type Sessions struct {
	lifecycle
	metadata Metadata
}

// New returns the Sessions of an app. The argument "db" contains the records of the app.
func New(db *records.DB, cfg Config) *Sessions {
	return &Sessions{lifecycle{sessions, db, cfg.Idle, cfg.NamedFor}, cfg.Metadata}
}

// Usable returns the state of the caller's session, or a fault if the caller cannot use the
// session. Usable returns the zero State for a session that has not started.
func (s *Sessions) Usable(ctx context.Context, c partition.Caller) (State, error) {
	r, err := s.db.Get(ctx, s.db.App.Session(c))
	if err != nil {
		return State{}, s.db.Fault(s.of.reading(), err)
	}
	state, err := Decode(r)
	if err != nil {
		return State{}, s.db.Fault(s.of.reading(), err)
	}
	return state, s.Check(r, state, c, s.db.Now())
}

// Get returns the caller's session, even if it has ended. The error is abi.NotFound if the session
// does not exist, and abi.AccessDenied if the session belongs to another user.
func (s *Sessions) Get(ctx context.Context, c partition.Caller) (Session, error) {
	r, _, err := s.read(ctx, c)
	if err != nil {
		return Session{}, err
	}
	return s.Describe(r)
}

// Files returns the list of files of the caller's session, or nil. Files returns the same errors as
// Get.
func (s *Sessions) Files(ctx context.Context, c partition.Caller) (json.RawMessage, error) {
	_, state, err := s.read(ctx, c)
	return state.Files, err
}

// Describe returns the Session that a record contains.
func (s *Sessions) Describe(r storage.Record) (Session, error) {
	state, err := Decode(r)
	if err != nil {
		return Session{}, s.db.Fault(s.of.reading(), err)
	}
	found := Session{
		ID: r.Key.Part(storage.Session), User: state.User, Reference: state.Reference, UserReference: state.UserReference,
		Metadata: state.Metadata, Started: state.Started, Used: r.Updated, Ended: s.endOf(r, state),
	}
	if len(found.Metadata) == 0 {
		found.Metadata = json.RawMessage("{}")
	}
	return found, nil
}
