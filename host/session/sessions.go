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

// Config configures Sessions. All fields except NamedFor are required.
type Config struct {
	// Idle is the time after which an unused session ends. The actual time can be up to an eighth
	// longer.
	Idle time.Duration
	// NamedFor is the time for which other records can refer to an ended session. The id of the
	// session is rejected for at least this time.
	NamedFor time.Duration
	Metadata Metadata
}

// Metadata decodes and merges the metadata of sessions within the limits of the app.
type Metadata interface {
	// Patch decodes a JSON Merge Patch (RFC 7396). It returns nil if there is none.
	Patch(text json.RawMessage) (any, error)
	// Merge applies a patch to metadata and returns the result. If there is no metadata, old is
	// nil.
	Merge(old json.RawMessage, patch any) (json.RawMessage, error)
}

// Sessions provides access to the sessions of an app in all tenants. It is safe for concurrent use.
type Sessions struct {
	db  *records.DB
	cfg Config
}

// New returns the Sessions of the app whose records db contains.
func New(db *records.DB, cfg Config) *Sessions { return &Sessions{db: db, cfg: cfg} }

// tombstone returns the time for which the id of an ended session is rejected.
const tombstone = 30 * 24 * time.Hour

// IsKey reports whether a key is the key of a session's record.
func IsKey(key storage.Key) bool { return key.HasPrefix(prefix) }

// prefix returns the key prefix of all sessions in a backend.
var prefix = storage.MakeKey(storage.Part{Tag: storage.System, Value: partition.Session})

// Open reports whether a record belongs to an open session. The record of an ended session is a
// tombstone, which has an expiry time. The record of an open session has none.
func (s *Sessions) Open(r storage.Record, at time.Time) bool {
	return r.Exists() && r.Expires.IsZero() && at.Before(s.idleEnd(r))
}

// longAgo is the time that ends the lifetime of an ended session.
var longAgo = time.Unix(0, 0)

// Life returns the lifetime of the session that a record contains.
func (s *Sessions) Life(r storage.Record) txn.Life {
	if !r.Exists() || !r.Expires.IsZero() { // a tombstone
		return txn.Life{Until: longAgo}
	}
	return txn.Life{Until: s.idleEnd(r)}
}

// idleEnd returns the time at which a session ends if it is not used again. To avoid a write by
// every run, a use is recorded only once in an eighth of Idle. The session therefore lives up to an
// eighth longer.
func (s *Sessions) idleEnd(r storage.Record) time.Time {
	return r.Updated.Add(s.cfg.Idle + s.cfg.Idle/8)
}

// Check returns a fault if the caller cannot use the session at the given time. The session does
// not need to exist.
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

// Usable returns the state of the caller's session, or a fault if the caller cannot use the
// session. It returns the zero State for a session that has not started.
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

// Get returns the caller's session, even if it has ended. The error is abi.NotFound if the session
// does not exist, and abi.AccessDenied if the session belongs to another user.
func (s *Sessions) Get(ctx context.Context, c partition.Caller) (Session, error) {
	r, _, err := s.read(ctx, c)
	if err != nil {
		return Session{}, err
	}
	return s.Describe(r)
}

// Files returns the list of files of the caller's session, or nil. It returns the same errors as
// Get.
func (s *Sessions) Files(ctx context.Context, c partition.Caller) (json.RawMessage, error) {
	_, state, err := s.read(ctx, c)
	return state.Files, err
}

// read returns the caller's session if the caller is allowed to see it.
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

// Describe returns the Session that a record contains.
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
