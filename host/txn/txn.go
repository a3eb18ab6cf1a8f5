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
	// MaxRecords is the maximum number of records that an attempt reads and writes, including
	// absent records.
	MaxRecords = 4096
	// MaxBytes is the maximum total size of the contents that an attempt reads and writes. A single
	// record may exceed MaxBytes.
	MaxBytes = 64 << 20
	// MaxWrites is the maximum number of records that an attempt writes. MaxWriteBytes is the
	// maximum total size of the contents of the written records, before and after the writes. A
	// single record may exceed MaxWriteBytes.
	//
	// MaxWrites and MaxWriteBytes are low because the commit reads and writes the records while
	// other commits wait.
	MaxWrites     = 1000
	MaxWriteBytes = 8 << 20
	// MaxUpdates is the maximum number of blind updates of one key. MaxBlindBytes is the maximum
	// total size of the contents that all blind updates write. Blind updates are limited because
	// the commit may repeat them inside the backend's transaction.
	MaxUpdates    = 16
	MaxBlindBytes = 1 << 20
	// MaxDepth is the maximum depth of nested transactions. MaxNested is the maximum number of
	// nested transactions in an attempt.
	MaxDepth  = 8
	MaxNested = 64
)

var (
	// ErrConflict ends an attempt if a record or a range that it read has changed. The body must
	// return ErrConflict. Run returns ErrConflict if its context ends before an attempt has
	// committed.
	ErrConflict = errors.New("other transactions changed the same records")
	// ErrLimit means that a read or write would exceed MaxRecords, MaxBytes, MaxWrites or
	// MaxWriteBytes. A read or write that fails with ErrLimit has no effect.
	ErrLimit = errors.New("the transaction exceeds its limit on records or bytes")
	// ErrNestedLimit means that a call to Nested would exceed MaxDepth or MaxNested.
	ErrNestedLimit = errors.New("too many nested transactions")
	// ErrUndecided is the error of updates that have no result yet and will be applied again. The
	// error reveals nothing about the record to the body.
	ErrUndecided = errors.New("the outcome of the update is not decided yet")
	// ErrReadOnly is the error of Apply in a transaction with Options.ReadOnly.
	ErrReadOnly = errors.New("the transaction is read-only")
	// ErrOver is the error of a Tx that is used after its body has returned.
	ErrOver = errors.New("the transaction has ended")
)

// Config configures a DB. Backend is required.
type Config struct {
	Backend storage.Backend
	// Now is the clock for the expiry and the timestamps of records. Now must be safe for
	// concurrent use. Default: time.Now.
	Now func() time.Time
	// Rand is the source of random seeds and of the generations of new records. Rand must be safe
	// for concurrent use. Default: crypto/rand.
	Rand io.Reader
}

// DB runs transactions on a backend. DB is safe for concurrent use. Several DBs, in one process or
// in several, may share a backend. Fair scheduling covers only transactions of the same DB.
type DB struct {
	backend storage.Backend
	clock   func() time.Time
	rand    io.Reader
	locks   fairlock.Locks[storage.Key]
	broken  rule // set only in tests; see broken.go
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

// The method "now" returns the current time, truncated to the precision of records.
func (db *DB) now() time.Time { return db.clock().UTC().Truncate(time.Microsecond) }

// Options configure a transaction. The zero Options select a transaction without an id.
type Options struct {
	// ID is the id of the run. Records that the run writes contain the id of the run. If the reply
	// to a commit is lost, Run uses the id to determine whether the commit was applied.
	ID string
	// Guards are conditions that must be true when the transaction ends. The records of guards are
	// not in the read set, so the records may change.
	Guards []Guard
	// Live returns the lifetime of a record. Default: until Record.Expires.
	Live func(storage.Record) Life
	// ReadOnly forbids writes.
	ReadOnly bool
	// DryRun makes the transaction compute the effects of its commit without storing the effects.
	DryRun bool
	// CommitAlways makes the transaction commit even if the body wrote nothing, so that OnCommit
	// can write records.
	CommitAlways bool
	// Extra returns the keys that OnCommit may write. Extra is called only if the transaction
	// commits.
	Extra func() []storage.Key
	// OnCommit returns extra records, which are stored in the same commit. For each record,
	// OnCommit sets either the key, the content, the expiry and the tags, or the key and Delete.
	// The transaction sets all other fields of the record.
	//
	// OnCommit is called before the commit. If the effects of the commit differ from the expected
	// effects, OnCommit is called again inside the backend's transaction. OnCommit must therefore
	// be pure and fast. If OnCommit fails, the run ends, and Run returns the error unchanged.
	//
	// A transaction that only deletes records should write a record in OnCommit, because Run needs
	// a written record to resolve an unknown outcome.
	OnCommit func(Effects) ([]storage.Write, error)
	// Quota limits the records and bytes that are stored for apps and users. Nil means no limits.
	Quota Quota
}

// Guard is a condition on one record that must be true when a transaction ends.
type Guard struct {
	Key storage.Key
	// Check returns nil if the condition is true. If Check returns an error, the run ends, and Run
	// returns the error unchanged. The argument r is the stored record, even if the record has
	// expired, or the zero Record if no record exists. Check must be pure.
	Check func(r storage.Record, at time.Time) error
}

// Life is the lifetime of a record, which is the time during which the record is visible.
type Life struct {
	// Until is the time at which the record expires; zero means never. Expired records are
	// invisible to transactions.
	Until time.Time
	// Depends lists the keys of other records. If a record in Depends expires, the record that
	// depends on it expires too. Live is called with each record in Depends, or with a Record that
	// has only a Key if the record does not exist. Dependencies are not transitive.
	Depends []storage.Key
}

// Quota limits the usage of storage accounts after a commit; see [storage.Record.Accounts].
type Quota interface {
	// Budget returns the limits of accounts. Budget is called only if the transaction commits.
	Budget() storage.Budget
	// Reclaim frees space and reports whether any space was freed. If a commit exceeds its budget
	// or the backend has no space for the commit, Reclaim is called outside the backend's
	// transaction, at most once per commit.
	Reclaim(context.Context) bool
}

// Effects contains the reads and writes of an attempt.
type Effects struct {
	// Attempts is the number of executions of the body.
	Attempts int
	// Reads is the read set and the records of Peek, in the order of first use.
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
	// Old and New are the record before and after the transaction. The zero Record means that the
	// record does not exist.
	Old, New storage.Record
	// Warnings are the warnings of the last update of the key.
	Warnings any
}

// Outcome is the result of a transaction. The Effects in an Outcome are the effects of the last
// attempt. Writes is empty if nothing was stored, except in a dry run.
type Outcome struct {
	Effects
	// Committed reports whether something was stored.
	Committed bool
}
