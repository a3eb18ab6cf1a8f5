package session

import (
	"context"
	"encoding/json"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/records"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/txn"
)

// Config configures Sessions. All fields but NamedFor are required.
type Config struct {
	// Idle is how long a session lives without being used, to an eighth more.
	Idle time.Duration
	// NamedFor is how long other records may name a session that has ended. Its id stays refused at least as long.
	NamedFor time.Duration
	Metadata Metadata
}

// Metadata reads and merges the metadata of sessions within the limits of the app.
type Metadata interface {
	// Patch returns the value of a merge patch (RFC 7396), nil for an absent one.
	Patch(text json.RawMessage) (any, error)
	// Merge returns old metadata, nil for none, with a patch applied.
	Merge(old json.RawMessage, patch any) (json.RawMessage, error)
}

// Sessions keeps the sessions of an app, for all its tenants. It is safe for concurrent use.
type Sessions struct {
	db  *records.DB
	cfg Config
}

// New returns the sessions of the app of db.
func New(db *records.DB, cfg Config) *Sessions { return &Sessions{db: db, cfg: cfg} }

// tombstone is how long an ended session's id stays refused.
const tombstone = 30 * 24 * time.Hour

// IsKey reports whether a key is that of a session.
func IsKey(key storage.Key) bool { return key.HasPrefix(prefix) }

// prefix is that of all sessions of a backend.
var prefix = storage.MakeKey(storage.Part{Tag: storage.System, Value: partition.Session})

// Open reports whether the record of a session is that of an open one. An ended one is a tombstone that expires; an open
// one ends only because it is idle.
func (s *Sessions) Open(r storage.Record, at time.Time) bool {
	return r.Exists() && r.Expires.IsZero() && at.Before(s.idleEnd(r))
}

// longAgo is the end of what is not alive at any time.
var longAgo = time.Unix(0, 0)

// Life returns how long the session of a record is open.
func (s *Sessions) Life(r storage.Record) txn.Life {
	if !r.Exists() || !r.Expires.IsZero() { // a tombstone
		return txn.Life{Until: longAgo}
	}
	return txn.Life{Until: s.idleEnd(r)}
}

// idleEnd returns when a session that is not used any more ends. Uses are noted no more often than every eighth of Idle, so
// that a reading run writes nothing: hence the eighth more.
func (s *Sessions) idleEnd(r storage.Record) time.Time {
	return r.Updated.Add(s.cfg.Idle + s.cfg.Idle/8)
}

// Check returns why a caller may not use a session at a time, nil if it may. The session may have not begun.
func (s *Sessions) Check(r storage.Record, state State, c partition.Caller, at time.Time) error {
	if err := mayName(c, state); err != nil {
		return err
	}
	ended := r.Exists() && !s.Open(r, at)
	if state.User != "" && state.User != c.User && !(ended && c.User == "") {
		return errForeign(c)
	}
	if ended {
		return abi.Faultf(abi.SessionEnded, "the session has ended").WithHint("start a new session with another id")
	}
	return nil
}

// Usable returns the state of the caller's session if the caller may use it, the zero State of one that has not begun.
func (s *Sessions) Usable(ctx context.Context, c partition.Caller) (State, error) {
	r, err := s.db.Get(ctx, s.db.App.Session(c))
	if err != nil {
		return State{}, s.db.Fault(reading, err)
	}
	state, err := Decode(r)
	if err != nil {
		return State{}, s.db.Fault(reading, err)
	}
	return state, s.Check(r, state, c, s.db.Now())
}

const reading = "read a session"

// Get returns the caller's session, also one that has ended: abi.NotFound if there is none, abi.AccessDenied if it belongs
// to another user.
func (s *Sessions) Get(ctx context.Context, c partition.Caller) (Session, error) {
	r, _, err := s.read(ctx, c)
	if err != nil {
		return Session{}, err
	}
	return s.Describe(r)
}

// Files returns the list of the files of the caller's session, nil for none; its errors are those of Get.
func (s *Sessions) Files(ctx context.Context, c partition.Caller) (json.RawMessage, error) {
	_, state, err := s.read(ctx, c)
	return state.Files, err
}

// read returns the caller's session if the caller may know of it.
func (s *Sessions) read(ctx context.Context, c partition.Caller) (storage.Record, State, error) {
	if err := c.Check(); err != nil {
		return storage.Record{}, State{}, err
	}
	r, err := s.db.Get(ctx, s.db.App.Session(c))
	if err != nil {
		return r, State{}, s.db.Fault(reading, err)
	}
	state, err := Decode(r)
	if err != nil {
		return r, State{}, s.db.Fault(reading, err)
	}
	if err := mayName(c, state); err != nil {
		return r, State{}, err
	}
	if !r.Exists() {
		return r, State{}, errNone()
	}
	if c.User != "" && state.User != "" && state.User != c.User {
		return r, State{}, errForeign(c)
	}
	return r, state, nil
}

// Describe returns the session of a record.
func (s *Sessions) Describe(r storage.Record) (Session, error) {
	state, err := Decode(r)
	if err != nil {
		return Session{}, s.db.Fault(reading, err)
	}
	found := Session{
		ID: r.Key.Part(storage.Session), User: state.User, Reference: state.Reference, UserReference: state.UserReference,
		Metadata: state.Metadata, Started: state.Started, Used: r.Updated, Ended: state.Ended,
	}
	if len(found.Metadata) == 0 {
		found.Metadata = json.RawMessage("{}")
	}
	if end := s.idleEnd(r); found.Ended == nil && !s.db.Now().Before(end) {
		found.Ended = &end
	}
	return found, nil
}
