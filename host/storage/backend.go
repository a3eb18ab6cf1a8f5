package storage

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"
)

// Record is the content and metadata that a backend stores under a key. The zero Record stands for
// "none".
//
// A backend stores records as they are: its callers set revisions, generations and times. Times are
// stored in UTC and whole microseconds.
type Record struct {
	Key     Key
	Content []byte // JSON; a backend returns the bytes it was given
	// Revision counts the commits that wrote the record, from 1; 0 means that there is no record.
	Revision int64
	// Generation distinguishes a record from earlier ones under the same key.
	Generation string
	Created    time.Time
	Updated    time.Time
	// Expires is the end of the lifetime; zero for never.
	Expires time.Time
	// Tags are the words by which ScanTag and DeleteWhere find the record within its tenant and
	// app: "user/ann" for the data subject, "session/s1" for the session whose end ends its
	// lifetime. Each tag occurs once.
	Tags []string
	// Run is the id of the run that last wrote the record, or "".
	Run string
}

// Exists reports whether there is a record.
func (r Record) Exists() bool { return r.Revision > 0 }

// Expired reports whether the record's lifetime has ended at a time.
func (r Record) Expired(at time.Time) bool { return !r.Expires.IsZero() && !at.Before(r.Expires) }

// Clone returns a copy that shares no memory with r.
func (r Record) Clone() Record {
	r.Content = bytes.Clone(r.Content)
	r.Tags = slices.Clone(r.Tags)
	return r
}

// SameVersion reports whether r and other are the same version of the same record, or both do not
// exist.
func (r Record) SameVersion(other Record) bool {
	return r.Revision == other.Revision && r.Generation == other.Generation
}

// Head is a record without its content, which may be large: its Content is nil. The zero Head
// stands for "none".
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

// Size returns the number of bytes that the record counts for in Usage, like SizeOf.
func (h Head) Size() int64 { return int64(len(h.Key)) + h.ContentBytes }

// Write is a record to store under its key or, if Delete is set, a key whose record to remove.
type Write struct {
	Record Record
	Delete bool
}

// Selector selects records by prefix, by tag, by the end of their lifetime, or by key. Prefix can
// be combined with Tag, and Group with Tag or Expired; other combinations are errors.
type Selector struct {
	Prefix Key
	// Tag selects the records with that tag whose Key.Group is Group: each tenant and app has tags
	// of its own. Group is "" for records that do not belong to an app.
	Tag   string
	Group Key
	// Expired selects the records whose lifetime had ended at that time. With a Group it selects
	// only records of that tenant and app, and a bounded number of them.
	Expired time.Time
	// Keys selects the records under these keys.
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

// Check returns an error if the selector selects everything or is a combination that is not
// allowed, or if limit is under 1.
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

// CheckTag returns an error if the selector has no tag, and the errors of Check.
func (s Selector) CheckTag(limit int) error {
	if s.Tag == "" {
		return errNoTag
	}
	return s.Check(limit)
}

// CheckLimit returns an error if limit is under 1.
func CheckLimit(limit int) error {
	if limit < 1 {
		return errLimit
	}
	return nil
}

// Backend keeps records. It is safe for concurrent use.
//
// Callers can distinguish errors that wrap ErrUnknownOutcome, ErrClosed or ErrCorrupt. Update
// returns the error of fn unchanged.
type Backend interface {
	// Get returns the records under keys, in their order, all from one snapshot; the zero Record if
	// there is none. It includes records that have expired, because only the caller knows its
	// clock. If a record cannot be decoded, the error wraps ErrCorrupt. The same applies to Scan
	// and Update.
	Get(ctx context.Context, keys ...Key) ([]Record, error)

	// Read returns the records under want, in their order, and the position at which they were
	// read, all from one snapshot in which everything in held is as it was observed. Otherwise it
	// returns ErrChanged. It does not read the contents of held records.
	Read(ctx context.Context, want []Key, held Held) ([]Record, Position, error)

	// Scan returns up to limit records under prefix whose keys are greater than after, in the order
	// of keys. Fewer than limit, which must be at least 1, means that there are no more.
	Scan(ctx context.Context, prefix, after Key, limit int) ([]Record, error)

	// Heads is like Scan, without contents. It does not read them into memory.
	Heads(ctx context.Context, prefix, after Key, limit int) ([]Head, error)

	// Update calls fn with the records under on.Keys, as Get returns them, and applies the writes
	// that fn returns: all of them or, if fn or the backend fails, none. Everything in on.Held must
	// be as it was observed, or Update returns ErrChanged and does not call fn. Updates are
	// serializable over everything that on names, which includes absent records and records that
	// appear in a range. Each write is to one of on.Keys, and no two writes are to the same key.
	// Once Update returns nil, the writes are durable. If ctx ends before fn was called, Update
	// stops waiting; from then on ctx is ignored, unless nothing was committed and fn has to be
	// called again.
	//
	// Update compares the usage after the writes with on.Budget. A backend may use the usage at the
	// start of the Update instead, if its documentation says so: then concurrent updates can
	// together exceed a limit.
	//
	// fn must be pure, because it may be called again. It must not keep or change its argument,
	// call the backend, or end its goroutine. A panic in fn becomes an error.
	Update(ctx context.Context, on Footprint, fn func(now []Record) ([]Write, error)) error

	// Usage returns the usage of accounts, in their order, all from one snapshot; see
	// [Record.Accounts]. Each write and removal of a record is counted exactly once, in its own
	// transaction.
	Usage(ctx context.Context, accounts ...Key) ([]Usage, error)

	// ScanTag returns the heads of up to limit selected records whose keys are greater than after,
	// in the order of keys. The selector must have a Tag. Fewer than limit, which must be at least
	// 1, means that there are no more.
	ScanTag(ctx context.Context, what Selector, after Key, limit int) ([]Head, error)

	// DeleteWhere removes up to limit of the selected records and returns the heads of those that
	// it removed. Fewer than limit, which must be at least 1, means that none are left. It skips
	// records that cannot be decoded, and reports them by an error that wraps ErrCorrupt. The
	// returned records were removed even if there is an error.
	//
	// A backend removes records in transactions of a bounded size, which check each record again,
	// so that other updates can take place in between: DeleteWhere is not atomic. It does not read
	// contents into memory.
	DeleteWhere(ctx context.Context, what Selector, limit int) ([]Head, error)

	// Changes returns up to limit writes to keys under prefix that were committed after a position,
	// in commit order, and the position of the last of them. Fewer than limit, which must be at
	// least 1, means that there are no more; the position is then the current one. The history is
	// bounded: Changes returns ErrTooOld for a position before its beginning, and for the zero
	// Position.
	//
	// A backend may withhold changes while an older transaction is in progress. In its order each
	// write then follows all writes that its transaction saw, and the current position is the one
	// before the withheld changes.
	Changes(ctx context.Context, prefix Key, since Position, limit int) ([]Changed, Position, error)

	// Ping checks that the backend can read and write, with a write that changes nothing. It costs
	// a commit.
	Ping(ctx context.Context) error

	// Close releases the resources of the backend. Updates that have begun are finished first;
	// those that still wait return ErrClosed. Closing twice is fine.
	Close() error
}

var (
	// ErrUnknownOutcome is wrapped by the error of an Update that may or may not have taken place.
	ErrUnknownOutcome = errors.New("the outcome of the commit is unknown")
	// ErrClosed is wrapped by the errors of a backend that was closed.
	ErrClosed = errors.New("the backend is closed")
	// ErrCorrupt is wrapped by errors about stored data that is damaged.
	ErrCorrupt = errors.New("the data is corrupt")

	errLimit     = errors.New("the limit must be at least 1")
	errSelector  = errors.New("the selector is empty and would select everything")
	errSelectors = errors.New("the selector has fields that cannot be combined")
	errNoTag     = errors.New("the selector has no tag")
)
