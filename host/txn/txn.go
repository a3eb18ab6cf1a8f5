package txn

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"time"

	"github.com/toolrun/toolrun/host/storage"
)

// Bounds of an attempt.
const (
	// MaxRecords bounds the records that it reads and writes, absent ones included.
	MaxRecords = 4096
	// MaxBytes bounds their contents, before and after; those of one record may have more.
	MaxBytes = 64 << 20
	// MaxUpdates bounds the updates of one key that stay blind, and MaxBlindBytes the contents that all of them of an
	// attempt write: what updates inside the backend's transaction may cost.
	MaxUpdates    = 16
	MaxBlindBytes = 1 << 20
	// MaxDepth bounds how deep savepoints nest, and MaxNested their number in an attempt.
	MaxDepth  = 8
	MaxNested = 64
)

var (
	// ErrConflict ends an attempt whose reads no longer hold; the body must return it. Run returns it if that went on
	// until the end of its context.
	ErrConflict = errors.New("other transactions changed the same records")
	// ErrLimit is returned if a read or write would exceed MaxRecords or MaxBytes; the Tx stays as it was.
	ErrLimit = errors.New("the transaction reads and writes too many records")
	// ErrNestedLimit is returned by Nested over MaxDepth or MaxNested.
	ErrNestedLimit = errors.New("too many nested transactions")
	// ErrUndecided is for updates that could not decide and will be applied again, so that the body sees nothing of it.
	ErrUndecided = errors.New("the update has not decided yet")
	// ErrReadOnly is returned by Apply in a transaction with Options.ReadOnly.
	ErrReadOnly = errors.New("the transaction is read-only")
	// ErrOver is returned by a Tx that is used after its body returned.
	ErrOver = errors.New("the transaction is over")
)

// Config configures a DB. Backend is required.
type Config struct {
	Backend storage.Backend
	// Now is the clock of liveness and of what records bear; it must be safe for concurrent use. Default time.Now.
	Now func() time.Time
	// Rand is the source of seeds and of the identities of new records; it must be safe for concurrent use. Default
	// crypto/rand.
	Rand io.Reader
}

// DB runs transactions on a backend. It is safe for concurrent use. Several DBs, in one process or in several, may share
// a backend; only fairness is a DB's own.
type DB struct {
	backend storage.Backend
	clock   func() time.Time
	rand    io.Reader
	locks   fairLocks
	broken  rule // of tests; see broken.go
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

// now is the time in the precision that records keep.
func (db *DB) now() time.Time { return db.clock().UTC().Truncate(time.Microsecond) }

// Options say what a transaction may do and what its commit depends on. The zero value is a transaction without an id.
type Options struct {
	// ID is the id of the run: records that it writes bear it, and an unknown outcome of a commit is found out by it.
	ID string
	// Guards must hold when the transaction ends. They are not in the read set: a guard's record may change.
	Guards []Guard
	// Live decides how long a record lives. Default: until Record.Expires.
	Live func(storage.Record) Life
	// ReadOnly forbids writes.
	ReadOnly bool
	// DryRun decides what a commit would do, and stores nothing.
	DryRun bool
	// CommitAlways commits also if the body wrote nothing, so that OnCommit can write.
	CommitAlways bool
	// Extra returns the only further keys that OnCommit may write. It is called if there is something to commit.
	Extra func() []storage.Key
	// OnCommit returns records that are stored in the same commit: of each the key, content, expiry and tags, or Delete;
	// the rest is filled in. It is called before the commit and, if that found other effects, again inside the backend's
	// transaction: it must be pure and quick. A transaction that only deletes should write something here that bears
	// its id, or an unknown outcome stays unknown. Its error ends the run as it is.
	OnCommit func(Effects) ([]storage.Write, error)
	// Quota bounds what is stored; nil for no bound.
	Quota Quota
}

// Guard is a condition on one record that must hold when a transaction ends.
type Guard struct {
	Key storage.Key
	// Check returns an error that ends the run as it is, or nil. It gets the record as it is stored, whether alive or
	// not, or the zero Record. It must be pure.
	Check func(r storage.Record, at time.Time) error
}

// Life is how long a record lives.
type Life struct {
	// Until is when the record ends; zero for never. A record of the past is as good as absent.
	Until time.Time
	// Depends are records whose end ends the record, too: Live is called with each of them, with a Record that has only
	// a Key if there is none. What those depend on does not count.
	Depends []storage.Key
}

// Quota bounds what a commit stores.
type Quota interface {
	// Budget returns what accounts may hold after a commit. It is called if there is something to commit.
	Budget() storage.Budget
	// Reclaim frees room and reports whether there is more now. It is called once a commit that exceeds its budget, or for
	// which the backend has no room, outside of the backend's transaction.
	Reclaim(context.Context) bool
}

// Effects are what an attempt read and what it writes.
type Effects struct {
	// Attempts counts the executions of the body.
	Attempts int
	// Reads is the read set, in the order of the first reads.
	Reads []Read
	// Writes are the records that the body wrote, in the order in which it first touched them.
	Writes []Change
}

// Read is a record in the read set. Revision is 0 if there was none.
type Read struct {
	Key      storage.Key
	Revision int64
}

// Change is what a transaction makes of one record. Their contents must not be changed.
type Change struct {
	Key storage.Key
	// Old and New are the record before and after; zero Records if there is none.
	Old, New storage.Record
	// Warnings are those of the key's last update.
	Warnings any
}

// Outcome is the result of a transaction: the effects of its last attempt. Writes are empty if nothing was stored, unless
// the transaction was a dry run.
type Outcome struct {
	Effects
	// Committed reports whether something was stored.
	Committed bool
}
