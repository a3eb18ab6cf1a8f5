package storage

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"
)

// Record is what a backend keeps under a key. The zero Record stands for "none".
//
// A backend stores what it is given: revisions, generations and times are its callers' business. Times are
// kept in UTC and whole microseconds.
type Record struct {
	Key     Key
	Content []byte // JSON; a backend returns the bytes it was given
	// Revision counts the commits that wrote the record, from 1; 0 means that there is no record.
	Revision int64
	// Generation tells a record from an earlier one under the same key.
	Generation string
	Created    time.Time
	Updated    time.Time
	// Expires is when the lifetime ends; zero for never.
	Expires time.Time
	// Tags are words that Drop finds the record by, such as the event that ends its lifetime. No tag twice.
	Tags []string
	// Run is the id of the run that wrote the record last, or "".
	Run string
}

// Exists reports whether there is a record.
func (r Record) Exists() bool { return r.Revision > 0 }

// Expired reports whether the record's lifetime has ended at that time.
func (r Record) Expired(at time.Time) bool { return !r.Expires.IsZero() && !at.Before(r.Expires) }

// Clone returns a copy that shares no memory with r.
func (r Record) Clone() Record {
	r.Content = bytes.Clone(r.Content)
	r.Tags = slices.Clone(r.Tags)
	return r
}

// SameVersion reports whether both are the same version of the same record, or both none.
func (r Record) SameVersion(other Record) bool {
	return r.Revision == other.Revision && r.Generation == other.Generation
}

// Head is a record without its content, which may be large: Content is nil. The zero Head stands for "none".
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

// Size returns what the record counts for in Usage, as SizeOf does.
func (h Head) Size() int64 { return int64(len(h.Key)) + h.ContentBytes }

// Write puts a record under its key or, where Delete is set, removes what is there.
type Write struct {
	Record Record
	Delete bool
}

// Selector says what Drop removes: records under a prefix, or those with an end tag, or those with both, or those
// under certain keys. Keys is set alone; one of the fields must be set.
type Selector struct {
	Prefix Key
	Tag    string
	Keys   []Key
}

// Matches reports whether Drop would remove r.
func (s Selector) Matches(r Record) bool {
	if len(s.Keys) > 0 {
		return slices.Contains(s.Keys, r.Key)
	}
	return r.Key.HasPrefix(s.Prefix) && (s.Tag == "" || slices.Contains(r.Tags, s.Tag))
}

// Check returns an error for a selector that selects everything or has both keys and something else, and for a
// limit under 1.
func (s Selector) Check(limit int) error {
	switch some := s.Prefix != "" || s.Tag != ""; {
	case some && len(s.Keys) > 0:
		return errSelectors
	case !some && len(s.Keys) == 0:
		return errSelector
	}
	return CheckLimit(limit)
}

// CheckLimit returns an error for a limit under 1.
func CheckLimit(limit int) error {
	if limit < 1 {
		return errLimit
	}
	return nil
}

// Backend keeps records. It is safe for concurrent use.
//
// Its errors are plain, but for those that wrap ErrUnknownOutcome, ErrClosed or ErrCorrupt, and what fn
// returned to Update, which comes back as it is.
type Backend interface {
	// Get returns the records under keys, in their order, all from one snapshot; a zero Record where there is
	// none. It returns records that expired, for only the caller knows its clock. Where one of them cannot be
	// read the error wraps ErrCorrupt; so it is with Scan and Update.
	Get(ctx context.Context, keys ...Key) ([]Record, error)

	// Read returns the records under want, in their order, and the position that they were read at, all from one
	// snapshot in which everything held is as it was observed. Otherwise it fails with ErrChanged. It reads no
	// contents of what is held.
	Read(ctx context.Context, want []Key, held Held) ([]Record, Position, error)

	// Scan returns up to limit records under prefix whose keys come after after, in the order of keys. Less
	// than limit, which is at least 1, means that there are no more.
	Scan(ctx context.Context, prefix, after Key, limit int) ([]Record, error)

	// Heads is Scan without contents, which are not read into memory.
	Heads(ctx context.Context, prefix, after Key, limit int) ([]Head, error)

	// Update calls fn with the records under on.Keys, as Get returns them, and applies the writes that fn
	// returns: all of them or, if fn or the backend fails, none. Everything in on.Held must be as it was observed,
	// or Update fails with ErrChanged and does not call fn. Updates are serializable over what on names: absent
	// records and those that appear in a range included. Every write is to one of on.Keys, and no two to the same.
	// What Update reports as done is durable. A ctx that ends before fn was called ends the wait; from then on it is
	// ignored, unless nothing was committed and fn has to be called again.
	//
	// fn is pure and may be called again; it must neither keep nor change what it is given, nor call the
	// backend, nor end its goroutine. A panic in fn becomes an error.
	Update(ctx context.Context, on Footprint, fn func(now []Record) ([]Write, error)) error

	// Drop removes up to limit of the selected records and returns what it removed. Less than limit, which is
	// at least 1, means that none are left. Records that cannot be read are passed over, and reported by an
	// error that wraps ErrCorrupt. Where there is an error, what is returned was removed nevertheless.
	//
	// A backend removes in transactions of a bounded size, of which others' updates get in between, and reads
	// no contents into memory: a Drop as a whole is not atomic.
	Drop(ctx context.Context, what Selector, limit int) ([]Head, error)

	// Sweep removes up to limit of the records that had expired at that time, as Drop would, looking again at
	// each inside the transaction that removes it, and returns how many: of all records, or, if group is not
	// empty, of those that count for that group of an app, and then of a bounded number that it looks at.
	Sweep(ctx context.Context, group Key, at time.Time, limit int) (int, error)

	// Changes returns up to limit writes to keys under prefix that were committed after a position, in the order of
	// their commits, and the position behind the last of them. Less than limit, which is at least 1, means that there
	// are no more, and the position is then that of the present. The history is bounded: Changes fails with ErrTooOld
	// for a position that it does not reach back to, as for the zero Position.
	//
	// A backend may hold changes back while an older transaction is in progress. Its order is then one in which a write
	// follows all those that its transaction saw, and the present is the position before what is held back.
	Changes(ctx context.Context, prefix Key, since Position, limit int) ([]Changed, Position, error)

	// Ping reports whether the backend can read and write, with a write that changes nothing. It costs a commit.
	Ping(ctx context.Context) error

	// Close frees what the backend holds. Updates that had begun end first, those that wait get ErrClosed.
	// Closing twice is fine.
	Close() error
}

var (
	// ErrUnknownOutcome is wrapped by the error of an Update that may or may not have taken place.
	ErrUnknownOutcome = errors.New("the outcome of the commit is unknown")
	// ErrClosed is returned by a backend that was closed.
	ErrClosed = errors.New("the backend is closed")
	// ErrCorrupt is wrapped by errors about data that is not what was once written.
	ErrCorrupt = errors.New("the data is corrupt")

	errLimit     = errors.New("the limit must be at least 1")
	errSelector  = errors.New("drop: the selector is empty, which would select everything")
	errSelectors = errors.New("drop: the selector has keys and something else")
)
