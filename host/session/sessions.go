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
	// Idle is how long a session lives without use; up to an eighth is added.
	Idle time.Duration
	// NamedFor is how long other records can refer to an ended session. Its id is refused for at
	// least as long.
	NamedFor time.Duration
	Metadata Metadata
}

// Metadata decodes and merges the metadata of sessions within the limits of the app.
type Metadata interface {
	// Patch returns the value of a merge patch (RFC 7396), nil for none.
	Patch(text json.RawMessage) (any, error)
	// Merge returns old metadata, nil for none, with a patch applied.
	Merge(old json.RawMessage, patch any) (json.RawMessage, error)
}

// Sessions is the sessions of an app for all its tenants. It is safe for concurrent use.
type Sessions struct {
	db  *records.DB
	cfg Config
}

// New returns the sessions of the app of db.
func New(db *records.DB, cfg Config) *Sessions { return &Sessions{db: db, cfg: cfg} }

// tombstone is how long the id of an ended session is refused.
const tombstone = 30 * 24 * time.Hour

// IsKey reports whether a key is that of a session.
func IsKey(key storage.Key) bool { return key.HasPrefix(prefix) }

// prefix is the key prefix of all sessions of a backend.
var prefix = storage.MakeKey(storage.Part{Tag: storage.System, Value: partition.Session})

// Open reports whether a record is that of an open session. An ended session has a tombstone, which
// expires; an open one ends only when it is idle.
func (s *Sessions) Open(r storage.Record, at time.Time) bool {
	return r.Exists() && r.Expires.IsZero() && at.Before(s.idleEnd(r))
}

// longAgo is the end of the lifetime of an ended session.
var longAgo = time.Unix(0, 0)

// Life returns the lifetime of the session of a record.
func (s *Sessions) Life(r storage.Record) txn.Life {
	if !r.Exists() || !r.Expires.IsZero() { // a tombstone
		return txn.Life{Until: longAgo}
	}
	return txn.Life{Until: s.idleEnd(r)}
}

// idleEnd returns when a session ends if it is not used again. Each use within an eighth of Idle is
// recorded once, so that a run that only reads writes nothing. The session therefore lives an
// eighth longer.
func (s *Sessions) idleEnd(r storage.Record) time.Time {
	return r.Updated.Add(s.cfg.Idle + s.cfg.Idle/8)
}

// Check returns a fault if a caller cannot use a session at a time. The session need not have
// begun.
func (s *Sessions) Check(r storage.Record, state State, c partition.Caller, at time.Time) error {
	if err := checkConfined(c, state); err != nil {
		return err
	}
	ended := r.Exists() && !s.Open(r, at)
	if state.User != "" && state.User != c.User && !(ended && c.User == "") {
		return errOtherUser(c)
	}
	if ended {
		return abi.Faultf(abi.SessionEnded, "the session has ended").WithHint("start a new session with another id")
	}
	return nil
}

// Usable returns the state of the caller's session if the caller can use it. It is the zero State
// if the session has not begun.
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

// Get returns the caller's session, even if it has ended. The error is abi.NotFound if there is
// none, and abi.AccessDenied if it belongs to another user.
func (s *Sessions) Get(ctx context.Context, c partition.Caller) (Session, error) {
	r, _, err := s.read(ctx, c)
	if err != nil {
		return Session{}, err
	}
	return s.Describe(r)
}

// Files returns the list of files of the caller's session, nil for none. Its errors are those of
// Get.
func (s *Sessions) Files(ctx context.Context, c partition.Caller) (json.RawMessage, error) {
	_, state, err := s.read(ctx, c)
	return state.Files, err
}

// read returns the caller's session if it is visible to the caller.
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
	if err := checkConfined(c, state); err != nil {
		return r, State{}, err
	}
	if !r.Exists() {
		return r, State{}, errNotFound()
	}
	if c.User != "" && state.User != "" && state.User != c.User {
		return r, State{}, errOtherUser(c)
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
