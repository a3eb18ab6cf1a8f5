package txn

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"time"

	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/internal/fairlock"
)

// Bounds of an attempt.
const (
	// MaxRecords bounds the number of records that it reads and writes, absent ones included.
	MaxRecords = 4096
	// MaxBytes bounds the size of their contents, before and after. A single record may exceed it.
	MaxBytes = 64 << 20
	// MaxWrites bounds the number of records that it writes, and MaxWriteBytes the size of their
	// contents, before and after: the commit reads and writes these while others wait. A single
	// record may exceed MaxWriteBytes.
	MaxWrites     = 1000
	MaxWriteBytes = 8 << 20
	// MaxUpdates bounds the number of blind updates of one key, and MaxBlindBytes the size of the
	// contents that all blind updates write: the commit may apply them again inside the backend's
	// transaction.
	MaxUpdates    = 16
	MaxBlindBytes = 1 << 20
	// MaxDepth bounds the depth of nested savepoints, and MaxNested their number.
	MaxDepth  = 8
	MaxNested = 64
)

var (
	// ErrConflict ends an attempt whose reads no longer hold; the body must return it. Run returns
	// it if no attempt committed before the end of its context.
	ErrConflict = errors.New("other transactions changed the same records")
	// ErrLimit is returned if a read or write would exceed MaxRecords, MaxBytes, MaxWrites or
	// MaxWriteBytes. It changes nothing.
	ErrLimit = errors.New("the transaction reads and writes too many records")
	// ErrNestedLimit is returned by Nested if it would exceed MaxDepth or MaxNested.
	ErrNestedLimit = errors.New("too many nested transactions")
	// ErrUndecided is returned by updates that could not decide yet and will be applied again. It
	// reveals nothing about the record to the body.
	ErrUndecided = errors.New("the update has not decided yet")
	// ErrReadOnly is returned by Apply in a transaction with Options.ReadOnly.
	ErrReadOnly = errors.New("the transaction is read-only")
	// ErrOver is returned by a Tx that is used after its body returned.
	ErrOver = errors.New("the transaction is over")
)

// Config configures a DB. Backend is required.
type Config struct {
	Backend storage.Backend
	// Now is the clock for the lives of records and for their times; it must be safe for concurrent
	// use. Default time.Now.
	Now func() time.Time
	// Rand is the source of seeds and of the generations of new records; it must be safe for
	// concurrent use. Default crypto/rand.
	Rand io.Reader
}

// DB runs transactions on a backend. It is safe for concurrent use. Several DBs, in one process or
// in several, may share a backend, but only transactions of the same DB are scheduled fairly.
type DB struct {
	backend storage.Backend
	clock   func() time.Time
	rand    io.Reader
	locks   fairlock.Locks[storage.Key]
	broken  rule // only in tests; see broken.go
}

// New returns a DB.
func New(c Config) *DB {
	db := &DB{backend: c.Backend, clock: c.Now, rand: c.Rand}
	if db.clock == nil {
		db.clock = time.Now
	}
	if db.rand == nil {
		db.rand = rand.Reader
	}
	return db
}

// now returns the time in the precision of records.
func (db *DB) now() time.Time { return db.clock().UTC().Truncate(time.Microsecond) }

// Options configure a transaction. The zero value is a transaction without an id.
type Options struct {
	// ID is the id of the run. Records that it writes have it, so that an unknown outcome of a
	// commit can be resolved.
	ID string
	// Guards must hold when the transaction ends. Their records are not in the read set: they may
	// change.
	Guards []Guard
	// Live returns the life of a record. Default: until Record.Expires.
	Live func(storage.Record) Life
	// ReadOnly forbids writes.
	ReadOnly bool
	// DryRun makes the transaction compute the effects of its commit without storing them.
	DryRun bool
	// CommitAlways makes it commit even if the body wrote nothing, so that OnCommit can write.
	CommitAlways bool
	// Extra returns the keys that OnCommit may write. It is called only if there is something to
	// commit.
	Extra func() []storage.Key
	// OnCommit returns records that are stored in the same commit. It sets their key, content,
	// expiry and tags, or Delete; the rest is filled in. It is called before the commit and, if the
	// effects turn out to be others, again inside the backend's transaction: it must be pure and
	// quick. A transaction that only deletes should write a record here, or an unknown outcome
	// cannot be resolved. Its error ends the run and is returned unchanged.
	OnCommit func(Effects) ([]storage.Write, error)
	// Quota limits the usage of accounts; nil for no limit.
	Quota Quota
}

// Guard is a condition on one record that must hold when a transaction ends.
type Guard struct {
	Key storage.Key
	// Check returns nil, or an error that ends the run and is returned unchanged. It gets the
	// stored record, whether its life has ended or not, or the zero Record. It must be pure.
	Check func(r storage.Record, at time.Time) error
}

// Life is the time for which a record is visible.
type Life struct {
	// Until is the end of the record's life; zero for never. From then on the transaction sees no
	// record.
	Until time.Time
	// Depends are the keys of records whose end also ends this record. Live is called with each of
	// these records, or with a Record that has only a Key if there is none. Dependencies of these
	// records do not count.
	Depends []storage.Key
}

// Quota limits the usage of accounts after a commit.
type Quota interface {
	// Budget returns the limits of accounts. It is called only if there is something to commit.
	Budget() storage.Budget
	// Reclaim frees space and reports whether it did. It is called at most once a commit, outside
	// of the backend's transaction, if the commit exceeds its budget or the backend has no space
	// for it.
	Reclaim(context.Context) bool
}

// Effects are the reads and writes of an attempt.
type Effects struct {
	// Attempts counts the executions of the body.
	Attempts int
	// Reads is the read set, in the order in which the records were first touched.
	Reads []Read
	// Writes are the records that the body wrote, in the order in which it first touched them.
	Writes []Change
}

// Read is a record in the read set. Revision is 0 if there was none.
type Read struct {
	Key      storage.Key
	Revision int64
}

// Change is the change of one record in a transaction. The contents of Old and New must not be
// modified.
type Change struct {
	Key storage.Key
	// Old and New are the record before and after the transaction; the zero Record if there is
	// none.
	Old, New storage.Record
	// Warnings are the warnings of the last update of the key.
	Warnings any
}

// Outcome is the result of a transaction. Its effects are those of the last attempt; Writes is
// empty if nothing was stored, unless the transaction was a dry run.
type Outcome struct {
	Effects
	// Committed reports whether something was stored.
	Committed bool
}
