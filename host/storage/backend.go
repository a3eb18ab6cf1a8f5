package storage

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"
)

// Record is the content and metadata that a backend stores under a key. The zero Record means that
// no record exists.
//
// A backend stores records unchanged. The callers of a backend set revisions, generations and
// times. Times are stored in UTC with microsecond precision.
type Record struct {
	Key     Key
	Content []byte // JSON text, which a backend returns byte for byte
	// Revision counts the commits that wrote the record, starting at 1. Revision 0 means that no
	// record exists.
	Revision int64
	// Generation distinguishes a record from earlier records under the same key.
	Generation string
	Created    time.Time
	Updated    time.Time
	// Expires is the time at which the record expires. If Expires is the zero time, the record
	// never expires.
	Expires time.Time
	// Tags are labels by which ScanTag and DeleteWhere find the record within its tenant and app.
	// For example, "user/ann" is the tag of a data subject, and "session/s1" is the tag of a
	// session. A record with the tag of a session expires when the session ends. A record cannot
	// have the same tag twice.
	Tags []string
	// Run is the id of the run that last wrote the record, or "".
	Run string
}

// Exists reports whether there is a record.
func (r Record) Exists() bool { return r.Revision > 0 }

// Expired reports whether the record has expired at the given time.
func (r Record) Expired(at time.Time) bool { return !r.Expires.IsZero() && !at.Before(r.Expires) }

// Clone returns a copy that shares no memory with r.
func (r Record) Clone() Record {
	r.Content = bytes.Clone(r.Content)
	r.Tags = slices.Clone(r.Tags)
	return r
}

// SameVersion reports whether r and other are the same version of the same record, or are both
// missing.
func (r Record) SameVersion(other Record) bool {
	return r.Revision == other.Revision && r.Generation == other.Generation
}

// Head is a record without its content, which can be large. Record.Content is nil. The zero Head
// means that no record exists.
type Head struct {
	Record
	// ContentBytes is the length of the content.
	ContentBytes int64
}

// HeadOf returns the head of r.
func HeadOf(r Record) Head {
	h := Head{Record: r, ContentBytes: int64(len(r.Content))}
	h.Content = nil
	return h
}

// Size returns the number of bytes that the record adds to the usage of its accounts, like SizeOf.
// See Record.Accounts.
func (h Head) Size() int64 { return int64(len(h.Key)) + h.ContentBytes }

// Write is a change of the record under one key. A Write stores Record, or removes the record if
// Delete is set.
type Write struct {
	Record Record
	Delete bool
}

// Selector selects records by prefix, tag, expiry or keys. Prefix can be combined with Tag, and
// Group can be combined with Tag or Expired. Other combinations are errors.
type Selector struct {
	Prefix Key
	// Tag selects the records that have the tag and whose Key.Group is Group. Tags are separate for
	// each tenant and app. The field Group is "" for records that do not belong to an app.
	Tag   string
	Group Key
	// Expired selects the records that have expired at the given time. If the field Group is set,
	// the selector selects a bounded number of expired records of the tenant and app in Group.
	Expired time.Time
	// Keys selects the records under the given keys.
	Keys []Key
}

// Matches reports whether the selector selects r.
func (s Selector) Matches(r Record) bool {
	if len(s.Keys) > 0 {
		return slices.Contains(s.Keys, r.Key)
	}
	if !r.Key.HasPrefix(s.Prefix) {
		return false
	}
	group, _ := r.Key.Group()
	if !s.Expired.IsZero() {
		return r.Expired(s.Expired) && (s.Group == "" || s.Group == group)
	}
	return s.Tag == "" || s.Group == group && slices.Contains(r.Tags, s.Tag)
}

// Check returns an error if limit is less than 1, if the selector selects everything, or if the
// selector combines fields that cannot be combined.
func (s Selector) Check(limit int) error {
	prefix, tag, expired, keys := s.Prefix != "", s.Tag != "", !s.Expired.IsZero(), len(s.Keys) > 0
	switch {
	case !prefix && !tag && !expired && !keys:
		return errSelector
	case keys && (prefix || tag || expired), expired && (prefix || tag), s.Group != "" && !tag && !expired:
		return errSelectors
	}
	return CheckLimit(limit)
}

// CheckTag is like Check, but also returns an error if the selector has no tag.
func (s Selector) CheckTag(limit int) error {
	if s.Tag == "" {
		return errNoTag
	}
	return s.Check(limit)
}

// CheckLimit returns an error if limit is less than 1.
func CheckLimit(limit int) error {
	if limit < 1 {
		return errLimit
	}
	return nil
}

// Backend stores records. The methods of a Backend are safe for concurrent use.
//
// Callers can distinguish errors that wrap ErrUnknownOutcome, ErrClosed or ErrCorrupt. Update
// returns the error of fn unchanged.
type Backend interface {
	// Get returns the records under the given keys, in the order of these keys. All records are
	// from one snapshot. A missing record is the zero Record. Get also returns expired records,
	// because only the caller knows the current time. If a record cannot be decoded, the error
	// wraps ErrCorrupt. Scan and Update report undecodable records in the same way as Get.
	Get(ctx context.Context, keys ...Key) ([]Record, error)

	// Read returns the records with the keys in the argument "want", in the order of these keys,
	// and the position of the read. All returned records are from one snapshot, in which the
	// observations in the argument "held" are still true. If an observation is no longer true, Read
	// returns ErrChanged. Read does not load the contents of held records.
	Read(ctx context.Context, want []Key, held Held) ([]Record, Position, error)

	// Scan returns records under a prefix whose keys are greater than the argument "after", in key
	// order. The argument "limit" is the maximum number of returned records, and must be positive.
	// If Scan returns fewer records than the limit, no further records exist.
	Scan(ctx context.Context, prefix, after Key, limit int) ([]Record, error)

	// Heads is like Scan, but returns only the heads of the records and does not load contents into
	// memory.
	Heads(ctx context.Context, prefix, after Key, limit int) ([]Head, error)

	// Update calls fn with the records under on.Keys, in the form that Get returns, and applies the
	// writes that fn returns. Update applies all writes or, if fn or the backend fails, no write at
	// all. The function fn may write only to on.Keys, and only once to each key. When Update has
	// returned nil, the writes are durable.
	//
	// If an observation in on.Held is no longer true, Update returns ErrChanged and does not call
	// fn. Updates are serializable with respect to everything in the footprint "on", including
	// absent records and records that appear in a range.
	//
	// If ctx ends before the call to fn, Update stops waiting and returns. After the call to fn,
	// Update ignores ctx, unless nothing was committed and fn has to be called again.
	//
	// Update compares the usage after the writes with on.Budget. If the documentation of a backend
	// says so, the backend may instead compare the usage at the start of the Update with on.Budget.
	// In a backend that compares earlier usage, concurrent updates together can exceed a limit.
	//
	// The function fn must be pure, because Update may call fn again. In addition, fn must not
	// retain or modify its argument, call the backend, or end its goroutine. A panic in fn becomes
	// an error.
	Update(ctx context.Context, on Footprint, fn func(now []Record) ([]Write, error)) error

	// Usage returns the usage of the given accounts, in the order of the arguments; see
	// [Record.Accounts]. All values are from one snapshot. Each write or removal of a record
	// changes the usage exactly once, in the same transaction.
	Usage(ctx context.Context, accounts ...Key) ([]Usage, error)

	// ScanTag returns the heads of selected records whose keys are greater than the argument
	// "after", in key order. ScanTag returns at most as many heads as the argument "limit", which
	// must be at least 1. The selector must have a Tag. If ScanTag returns fewer heads than the
	// limit, no further heads exist.
	ScanTag(ctx context.Context, what Selector, after Key, limit int) ([]Head, error)

	// DeleteWhere removes selected records and returns the heads of the removed records.
	// The argument "limit" is the maximum number of removed records, and must be positive. If
	// DeleteWhere returns fewer heads than the limit, no selected records are left. The records of
	// the returned heads were removed, even if the error is not nil.
	//
	// DeleteWhere skips records that cannot be decoded. If DeleteWhere has skipped a record, the
	// error wraps ErrCorrupt.
	//
	// DeleteWhere is not atomic. A backend removes the records in several transactions of bounded
	// size. Other updates can run between the transactions, and each transaction checks again which
	// records are selected. DeleteWhere does not load contents into memory.
	DeleteWhere(ctx context.Context, what Selector, limit int) ([]Head, error)

	// Changes returns writes that were committed after the given position. Only writes to keys
	// under the given prefix are returned. The writes are in commit order, and the returned
	// position is the position of the last write. Changes returns at most as many writes as the
	// argument "limit", which must be at least 1. If Changes returns fewer writes than the limit,
	// no further writes exist, and the returned position is the current position.
	//
	// The history is bounded: Changes returns ErrTooOld for a position before the beginning of the
	// history, and for the zero Position.
	//
	// A backend may withhold changes while an older transaction is in progress. In the history of
	// such a backend, each write follows all writes that the transaction of the write could see.
	// While changes are withheld, the current position is the position before the withheld changes.
	Changes(ctx context.Context, prefix Key, since Position, limit int) ([]Changed, Position, error)

	// Ping checks that the backend can read and write. Ping commits a write that changes nothing.
	Ping(ctx context.Context) error

	// Close releases the resources of the backend. Close waits for updates that have begun. Updates
	// that have not begun before Close return ErrClosed. Close may be called twice.
	Close() error
}

var (
	// ErrUnknownOutcome is wrapped by the error of an Update that may or may not have been
	// committed.
	ErrUnknownOutcome = errors.New("the outcome of the commit is unknown")
	// ErrClosed is wrapped by the errors of a closed backend.
	ErrClosed = errors.New("the backend is closed")
	// ErrCorrupt is wrapped by errors that report damaged data.
	ErrCorrupt = errors.New("the data is corrupt")

	errLimit     = errors.New("the limit must be at least 1")
	errSelector  = errors.New("the selector is empty")
	errSelectors = errors.New("the selector combines incompatible fields")
	errNoTag     = errors.New("the selector has no tag")
)
