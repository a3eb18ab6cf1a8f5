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

// Limits of an attempt.
const (
	// MaxRecords is the maximum number of records that an attempt can read and write. Reads of
	// absent records count too.
	MaxRecords = 4096
	// MaxBytes is the maximum total size of the contents that an attempt reads and writes. If an
	// attempt uses only one record, the record may exceed MaxBytes.
	MaxBytes = 64 << 20
	// MaxWrites is the maximum number of records that an attempt writes. MaxWriteBytes limits the
	// contents of the written records. The size of a content before the write and its size after
	// the write are added. If an attempt writes only one record, the record may exceed
	// MaxWriteBytes.
	//
	// MaxWrites and MaxWriteBytes are low, because other commits wait while a commit reads and
	// writes its records.
	MaxWrites     = 1000
	MaxWriteBytes = 8 << 20
	// MaxUpdates is the maximum number of blind updates of one key in an attempt. MaxBlindBytes is
	// the maximum total size of the contents that all blind updates of an attempt write. Blind
	// updates are limited, because the commit can repeat blind updates inside the backend's
	// transaction.
	MaxUpdates    = 16
	MaxBlindBytes = 1 << 20
	// MaxDepth is the maximum depth of nested transactions. MaxNested is the maximum number of
	// nested transactions in an attempt.
	MaxDepth  = 8
	MaxNested = 64
)

var (
	// ErrConflict ends an attempt if a record or a range that it read has changed. The body must
	// return ErrConflict. If the deadline of Run passes after a conflict, Run returns ErrConflict.
	ErrConflict = errors.New("other transactions changed the same records")
	// ErrLimit means that a read or write would exceed MaxRecords, MaxBytes, MaxWrites or
	// MaxWriteBytes. If a read or write fails with ErrLimit, it has no effect.
	ErrLimit = errors.New("the transaction exceeds its limit on records or bytes")
	// ErrNestedLimit means that a call to Nested would exceed MaxDepth or MaxNested.
	ErrNestedLimit = errors.New("too many nested transactions")
	// ErrUndecided is the error that an update returns if it has no result yet. The body will apply
	// the update again. ErrUndecided must not reveal anything about the record to the body.
	ErrUndecided = errors.New("the outcome of the update is not decided yet")
	// ErrReadOnly is the error that Apply returns if Options.ReadOnly is set.
	ErrReadOnly = errors.New("the transaction is read-only")
	// ErrOver is the error that the methods of a Tx return after the body has returned.
	ErrOver = errors.New("the transaction has ended")
)

// Config configures a DB. Backend is required.
type Config struct {
	Backend storage.Backend
	// Now is the clock for the expiry and the timestamps of records. Now must be safe for
	// concurrent use. Default: time.Now.
	Now func() time.Time
	// Rand is the random source for seeds and for the generations of new records. Rand must be safe
	// for concurrent use. Default: crypto/rand.
	Rand io.Reader
}

// DB runs transactions on a backend. DB is safe for concurrent use. Several DBs may share a
// backend. The DBs may be in different processes. Scheduling is fair among the transactions of one
// DB, but not among the transactions of several DBs.
type DB struct {
	backend storage.Backend
	clock   func() time.Time
	rand    io.Reader
	// locks gives transactions that change the same records their turns.
	locks fairlock.Locks[storage.Key]
	// exclusive contains the locks of the method Lock.
	exclusive fairlock.Locks[storage.Key]
	broken    rule // set only in tests; see broken.go
}

// leaseTime is the maximum time for which a transaction holds its fair locks. A slow body therefore
// delays other transactions for only this time.
const leaseTime = 2 * time.Second

// New returns a DB.
func New(c Config) *DB {
	db := &DB{backend: c.Backend, clock: c.Now, rand: c.Rand}
	db.locks.LeaseTime = leaseTime
	if db.clock == nil {
		db.clock = time.Now
	}
	if db.rand == nil {
		db.rand = rand.Reader
	}
	return db
}

// The method "now" returns the current time, truncated to the precision of records.
func (db *DB) now() time.Time { return db.clock().UTC().Truncate(time.Microsecond) }

// Options configure a transaction. The zero Options select a transaction without an id.
type Options struct {
	// ID is the id of the run. Records that the run writes contain the id of the run. If the reply
	// to a commit is lost, Run uses the id of the run to determine whether the commit was applied.
	ID string
	// Guards are conditions that must be true when the transaction ends. The records of guards are
	// not in the read set. A change of a guard's record is not a conflict if the condition of the
	// guard is still true.
	Guards []Guard
	// Live returns the lifetime of a record. Default: until Record.Expires.
	Live func(storage.Record) Life
	// ReadOnly forbids writes.
	ReadOnly bool
	// If DryRun is set, the transaction computes the effects of its commit, but stores nothing.
	DryRun bool
	// If CommitAlways is set, the transaction commits even if the body wrote nothing. OnCommit can
	// then write records.
	CommitAlways bool
	// Extra returns the keys of the records that OnCommit may write. Extra is called only if the
	// transaction commits.
	Extra func() []storage.Key
	// OnCommit returns extra records. The commit stores the extra records together with the records
	// of the body. For each record, OnCommit sets the key. To delete the record, OnCommit also sets
	// Delete. To store the record, OnCommit also sets the content, the expiry and the tags. The
	// transaction sets all other fields of an extra record.
	//
	// OnCommit is called before the commit. If the effects of the commit differ from the expected
	// effects, OnCommit is called again inside the backend's transaction. OnCommit must therefore
	// be pure and fast. If OnCommit fails, the run ends, and Run returns the error of OnCommit.
	//
	// If a transaction only deletes records, its OnCommit should write a record, because Run needs
	// a written record to resolve an unknown outcome.
	OnCommit func(Effects) ([]storage.Write, error)
	// Quota limits the number and the total size of the records of apps and users. Nil means no
	// limits.
	Quota Quota
}

// Guard is a condition on one record that must be true when a transaction ends.
type Guard struct {
	Key storage.Key
	// Check returns nil if the condition is true. If Check returns an error, the run ends, and Run
	// returns the same error. The argument r is the stored record, even if the record has expired.
	// If no record exists, r is the zero Record. Check must be pure.
	Check func(r storage.Record, at time.Time) error
}

// Life is the lifetime of a record, which is the time during which the record is visible.
type Life struct {
	// Until is the time at which the record expires. If the record never expires, Until is zero.
	// Expired records are invisible to transactions.
	Until time.Time
	// Depends lists the keys of other records on which the record depends. If a record in Depends
	// expires, the record that depends on it expires too. Live is called for each record in
	// Depends. If the record does not exist, the argument of Live is a Record with only a Key.
	// Dependencies are not transitive.
	Depends []storage.Key
}

// Quota limits the usage of storage accounts; see [storage.Record.Accounts].
type Quota interface {
	// Budget returns the limits of accounts. Budget is called only if the transaction commits.
	Budget() storage.Budget
	// Reclaim frees space and reports whether any space was freed. A commit calls Reclaim if it
	// exceeds its budget or if the backend has too little free space. Reclaim is called outside the
	// backend's transaction and at most once per commit.
	Reclaim(context.Context) bool
}

// Effects contains the reads and writes of an attempt.
type Effects struct {
	// Attempts is the number of executions of the body.
	Attempts int
	// Reads contains the records in the read set and the records that Peek returned, in the order
	// of first use.
	Reads []Read
	// Writes contains the records that the body wrote, in the order of first use.
	Writes []Change
}

// Read is a record that the body read. Revision is 0 if the record does not exist.
type Read struct {
	Key      storage.Key
	Revision int64
}

// Change is the change of one record in a transaction. The contents of Old and New must not be
// modified.
type Change struct {
	Key storage.Key
	// Old is the record before the transaction, and New is the record after the transaction. If the
	// record does not exist, Old or New is the zero Record.
	Old, New storage.Record
	// Warnings are the warnings of the last update of the key.
	Warnings any
}

// Outcome is the result of a transaction. The Effects in an Outcome are the effects of the last
// attempt. If nothing was stored, Writes is empty. In a dry run, Writes contains the writes that
// the commit would store.
type Outcome struct {
	Effects
	// Committed reports whether something was stored.
	Committed bool
}
