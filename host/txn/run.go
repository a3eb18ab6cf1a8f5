package txn

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/internal/fairlock"
)

// run is the state that all attempts of one transaction share.
type run struct {
	db    *DB
	o     *Options
	ctx   context.Context // the context of the outermost transaction
	now   time.Time
	seed  uint64
	lease *fairlock.Lease[storage.Key] // the lease of the current attempt, or nil
	// generation is the generation of the records that the run creates.
	generation string
	attempts   int
	// refused is true if a commit of the run exceeded its budget or the free space.
	refused bool
}

// Run executes body in attempts until an attempt commits or fails. If body fails, Run stores
// nothing. If body fails, Run checks the records and ranges that body read. If all of them are
// unchanged, Run returns the error of body. If a record or range that body read has changed, Run
// executes body again.
//
// If the backend returns an error, for example [*storage.OverBudgetError], Run returns the same
// error. If an error wraps [storage.ErrUnknownOutcome], it is unknown whether the transaction was
// stored.
//
// Body must return soon after ctx ends. If a method of the Tx returns ErrConflict, body must return
// ErrConflict. Body must have no side effects except calls to its Tx. If a commit has begun, the
// end of ctx does not stop the commit.
func (db *DB) Run(ctx context.Context, o Options, body func(context.Context, *Tx) error) (Outcome, error) {
	r := &run{db: db, o: &o, ctx: ctx, now: db.now()}
	defer func() { r.lease.Release() }()
	for {
		r.attempts++
		tx := &Tx{run: r, reads: readSet{db: db, o: r.o}}
		out, err := tx.attempt(ctx, body)
		out.Attempts = r.attempts
		if !tx.again {
			return out, err
		}
		if err := r.queueAgain(ctx, tx); err != nil {
			return tx.outcome(), err
		}
	}
}

// queueAgain acquires the fair locks of the records that the last attempt used, before the next
// attempt begins. If queueAgain returns an error, the run ends, because another attempt cannot
// succeed.
func (r *run) queueAgain(ctx context.Context, tx *Tx) error {
	r.lease.Release()
	if err := r.lock(ctx, tx.local.touched(), tx.reads.prefixes()); err != nil {
		return err
	}
	if len(r.o.Guards) == 0 {
		return nil
	}
	records, _, err := r.db.backend.Read(ctx, r.guardKeys(), storage.Held{})
	if err != nil {
		return err
	}
	return r.checkGuards(r.db.now(), func(i int) storage.Record { return records[i] })
}

// lock waits for fair locks. If ctx ends before the locks are acquired, the method returns the
// error of the run.
func (r *run) lock(ctx context.Context, keys, prefixes []storage.Key) (err error) {
	if r.lease, err = r.db.locks.Acquire(ctx, keys, prefixes); err != nil || ctx.Err() != nil {
		return conflictAtEnd(ctx)
	}
	return nil
}

// conflictAtEnd returns the error of a run that had conflicts until its context ended.
func conflictAtEnd(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return ErrConflict
}

// draw gets the random values of the run from the random source. Later calls do nothing.
func (r *run) draw() error {
	if r.generation != "" {
		return nil
	}
	var b [16]byte
	if _, err := io.ReadFull(r.db.rand, b[:]); err != nil {
		return fmt.Errorf("read the random source: %w", err)
	}
	r.seed, r.generation = binary.LittleEndian.Uint64(b[:8]), hex.EncodeToString(b[8:])
	return nil
}

// stamp applies the write w to the record "base" and sets the argument "next" to the record that
// the commit stores. If the record is new, its revision is at least above + 1. The revision is
// never lower than the revision that an update of the record has returned.
func (r *run) stamp(next, base *storage.Record, above int64, w *write) {
	*next = w.next
	if !next.Exists() {
		return
	}
	next.Run, next.Updated = r.o.ID, r.now
	before := base.Revision
	if !base.Exists() {
		before = above
	}
	next.Revision, next.Generation, next.Created = max(before+1, next.Revision), base.Generation, base.Created
	if w.fresh || !base.Exists() {
		next.Generation, next.Created = r.generation, r.now
	}
	if base.Exists() && !next.Updated.After(base.Updated) && !r.db.breaks(timesRise) {
		next.Updated = base.Updated.Add(time.Microsecond) // Updated must increase even if the clock was set back
	}
}

func (r *run) guardKeys() (keys []storage.Key) {
	for _, g := range r.o.Guards {
		keys = append(keys, g.Key)
	}
	return keys
}

// checkGuards checks the guards. The function "record" returns the record of the i-th guard.
func (r *run) checkGuards(at time.Time, record func(i int) storage.Record) error {
	if r.db.breaks(guardsHold) {
		return nil
	}
	for i, g := range r.o.Guards {
		if err := g.Check(record(i), at); err != nil {
			return err
		}
	}
	return nil
}

// attempt executes body once. An attempt ends with a commit if body succeeds and there may be
// something to write. Body may have written records, or OnCommit may write records. Every other
// attempt ends with a check that its reads are unchanged.
func (tx *Tx) attempt(ctx context.Context, body func(context.Context, *Tx) error) (Outcome, error) {
	defer func() {
		if tx.over == nil {
			tx.over = ErrOver
		}
	}()
	failure := body(ctx, tx)
	if failure == nil && tx.over == nil && tx.run.lease == nil && tx.local.wrote() {
		if err := tx.queue(ctx); err != nil {
			return tx.outcome(), err
		}
	}
	return tx.finish(ctx, failure)
}

// queue acquires the fair locks of the records that the attempt used if other transactions hold
// some of these locks. If the first commit did not wait for the locks, it could starve the other
// transactions.
func (tx *Tx) queue(ctx context.Context) error {
	touched := tx.local.touched()
	if !tx.run.db.locks.Busy(touched) {
		return nil
	}
	return tx.run.lock(ctx, touched, tx.reads.prefixes())
}

// finish ends an attempt. The argument "failure" is the error of the attempt's body, or nil.
func (tx *Tx) finish(ctx context.Context, failure error) (Outcome, error) {
	if tx.again {
		return Outcome{}, ErrConflict
	}
	if err := ctx.Err(); err != nil {
		if failure == nil {
			failure = err
		}
		return tx.outcome(), failure // the failure may depend on reads that are no longer current
	}
	if failure == nil && tx.run.o.DryRun {
		return (&commit{tx: tx}).dryRun(ctx)
	}
	if failure == nil && (tx.local.wrote() || tx.run.o.CommitAlways) {
		return (&commit{tx: tx}).store(ctx)
	}
	if err := tx.check(ctx); err != nil {
		return Outcome{}, err
	}
	return tx.outcome(), failure
}

// check checks an attempt that stores nothing. The check succeeds if, in one snapshot, the guards
// are satisfied and all reads of the attempt are unchanged.
func (tx *Tx) check(ctx context.Context) error {
	r := tx.run
	if r.db.breaks(lastCheck) || len(r.o.Guards) == 0 && tx.reads.held.Empty() {
		return nil
	}
	records, err := tx.read(ctx, r.guardKeys())
	if err != nil {
		return err
	}
	return r.checkGuards(tx.reads.at, func(i int) storage.Record { return records[i] })
}

// outcome returns the outcome of an attempt that stores nothing.
func (tx *Tx) outcome() Outcome { return Outcome{Effects: tx.local.effects(tx.run.attempts)} }

// ReleaseLocks releases the fair locks of an attempt. Call ReleaseLocks before the body waits for
// something outside of the database. The commit of the attempt acquires fair locks again.
func ReleaseLocks(tx *Tx) {
	tx.run.lease.Release()
	tx.run.lease = nil
}

// Lock waits for exclusive locks of the given keys and returns a function that releases them. The
// locks are granted in the order of the calls, and they do not expire. The locks exclude only other
// calls of Lock on the same DB: transactions have separate fair locks, and other processes do not
// see the locks. If ctx ends first, Lock returns the error of ctx.
func (db *DB) Lock(ctx context.Context, keys ...storage.Key) (unlock func(), err error) {
	l, err := db.exclusive.Acquire(ctx, keys, nil)
	if err != nil {
		return nil, err
	}
	return l.Release, nil
}
