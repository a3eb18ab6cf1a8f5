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
	// Tags are words that ScanTag and DeleteWhere find the record by, within its tenant and app: the data subject
	// "user/ann", the event that ends its lifetime "session/s1". No tag twice.
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

// Selector names records: those under a prefix, those with a tag, those whose lifetime has ended, or those under certain
// keys. Prefix may narrow down Tag, and Group narrows down Expired; otherwise each is set alone.
type Selector struct {
	Prefix Key
	// Tag selects the records with that tag of one tenant and app, whose Key.Group is Group: tags of others are
	// theirs. Group is "" for records that belong to no app.
	Tag   string
	Group Key
	// Expired selects the records whose lifetime had ended at that time; with a Group, those of that tenant and app,
	// and of these a bounded number.
	Expired time.Time
	Keys    []Key
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

// Check returns an error for a selector that selects everything or combines what cannot be, and for a limit under 1.
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

// CheckTag returns an error for a selector that has no tag, or one that Check refuses.
func (s Selector) CheckTag(limit int) error {
	if s.Tag == "" {
		return errNoTag
	}
	return s.Check(limit)
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
	// What the writes add up to is compared with on.Budget. A backend may compare with what was held when the Update
	// began, if it says so: then updates that take place at the same time may exceed a limit together.
	//
	// fn is pure and may be called again; it must neither keep nor change what it is given, nor call the
	// backend, nor end its goroutine. A panic in fn becomes an error.
	Update(ctx context.Context, on Footprint, fn func(now []Record) ([]Write, error)) error

	// Usage returns what accounts hold, in their order, all from one snapshot; see [Record.Accounts]. Each write and
	// removal of a record counts in the transaction in which it takes place, exactly once.
	Usage(ctx context.Context, accounts ...Key) ([]Usage, error)

	// ScanTag returns the heads of up to limit records that what selects, which has a Tag, in the order of keys
	// and from the first after after on. Less than limit, which is at least 1, means that there are no more.
	ScanTag(ctx context.Context, what Selector, after Key, limit int) ([]Head, error)

	// DeleteWhere removes up to limit of the selected records and returns the heads of those it removed. Less than limit,
	// which is at least 1, means that none are left. Records that cannot be read are passed over, and reported by an
	// error that wraps ErrCorrupt. If there is an error, what is returned was removed nevertheless.
	//
	// A backend removes in transactions of a bounded size, of which others' updates get in between, looking again at
	// each record, and reads no contents into memory: a DeleteWhere as a whole is not atomic.
	DeleteWhere(ctx context.Context, what Selector, limit int) ([]Head, error)

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
	errSelector  = errors.New("the selector is empty, which would select everything")
	errSelectors = errors.New("the selector combines what cannot be combined")
	errNoTag     = errors.New("the selector has no tag")
)
