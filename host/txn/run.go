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
)

// run is what the attempts of one transaction share.
type run struct {
	db    *DB
	o     *Options
	ctx   context.Context // that of Run, which nested contexts may outlive
	now   time.Time
	seed  uint64
	lease *lease // the fair locks that the current attempt holds; nil for none
	// generation is the identity of records that the run creates.
	generation string
	attempts   int
	// refused is true once there was no room for a commit.
	refused bool
}

// Run executes body in attempts until one commits or fails. If body fails, nothing is stored and its error is returned,
// provided that what it read held until it ended: otherwise it is executed again. Errors of the backend come back as they
// are: an [*storage.OverBudgetError] too; one that wraps [storage.ErrUnknownOutcome] means that nobody knows whether the transaction was stored.
//
// Body must end soon after ctx does, return ErrConflict if it gets it, and have no effect outside of its Tx. Once a commit
// has begun, the end of ctx no longer stops it.
func (db *DB) Run(ctx context.Context, o Options, body func(context.Context, *Tx) error) (Outcome, error) {
	r := &run{db: db, o: &o, ctx: ctx, now: db.now()}
	defer func() { r.lease.release() }()
	for {
		r.attempts++
		tx := &Tx{run: r, reads: readSet{db: db, o: r.o}}
		out, err := tx.attempt(ctx, body)
		out.Attempts = r.attempts
		if !tx.again {
			return out, err
		}
		if err := r.queueAgain(ctx, tx); err != nil {
			return Outcome{Effects: tx.local.effects(r.attempts)}, err
		}
	}
}

// queueAgain takes fair locks before another attempt. Its error ends the run: another attempt cannot succeed.
func (r *run) queueAgain(ctx context.Context, tx *Tx) (err error) {
	r.lease.release()
	r.lease, err = r.db.locks.take(ctx, tx.local.touched(), tx.reads.prefixes())
	if err != nil || ctx.Err() != nil {
		return conflictAtEnd(ctx)
	}
	return r.checkGuards(ctx)
}

// draw draws what is random about the run, once.
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

// stamp makes next the record that a write makes of base. A record that begins does so above a revision.
func (r *run) stamp(next, base *storage.Record, above int64, w *write) {
	*next = w.next
	if !next.Exists() {
		return
	}
	next.Run, next.Updated = r.o.ID, r.now
	next.Revision, next.Generation, next.Created = base.Revision+1, base.Generation, base.Created
	if !base.Exists() {
		next.Revision = above + 1
	}
	if w.fresh || !base.Exists() {
		next.Generation, next.Created = r.generation, r.now
	}
	if base.Exists() && !next.Updated.After(base.Updated) && !r.db.breaks(timesRise) {
		next.Updated = base.Updated.Add(time.Microsecond) // whatever clocks do
	}
}

// conflictAtEnd is the error of a run that met others until its context ended.
func conflictAtEnd(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return ErrConflict
}

// checkGuards checks the guards between two attempts.
func (r *run) checkGuards(ctx context.Context) error {
	if len(r.o.Guards) == 0 {
		return nil
	}
	records, _, err := r.db.backend.Read(ctx, r.guardKeys(), storage.Held{})
	if err != nil {
		return err
	}
	return r.guardsHold(r.db.now(), func(i int) storage.Record { return records[i] })
}

func (r *run) guardKeys() (keys []storage.Key) {
	for _, g := range r.o.Guards {
		keys = append(keys, g.Key)
	}
	return keys
}

// guardsHold checks the guards on their records: that of the i-th guard is record(i).
func (r *run) guardsHold(at time.Time, record func(i int) storage.Record) error {
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

// attempt executes body once and ends the attempt: with a commit if body succeeded, and with a last check of what it read
// in any case.
func (tx *Tx) attempt(ctx context.Context, body func(context.Context, *Tx) error) (Outcome, error) {
	defer func() {
		if tx.over == nil {
			tx.over = ErrOver
		}
	}()
	failure := body(ctx, tx)
	if failure == nil && tx.over == nil && tx.run.lease == nil && tx.local.wrote() {
		if err := tx.queue(ctx); err != nil {
			return Outcome{Effects: tx.local.effects(tx.run.attempts)}, conflictAtEnd(ctx)
		}
	}
	return tx.finish(ctx, failure)
}

// queue takes fair locks before a first commit if others wait for these records: committing past them would starve them.
func (tx *Tx) queue(ctx context.Context) (err error) {
	touched, prefixes := tx.local.touched(), tx.reads.prefixes()
	if !tx.run.db.locks.busy(touched) {
		return nil
	}
	tx.run.lease, err = tx.run.db.locks.take(ctx, touched, prefixes)
	return err
}

// finish ends an attempt whose body returned failure.
func (tx *Tx) finish(ctx context.Context, failure error) (Outcome, error) {
	if tx.again {
		return Outcome{}, ErrConflict
	}
	if err := ctx.Err(); err != nil {
		if failure == nil {
			failure = err
		}
		return Outcome{Effects: tx.local.effects(tx.run.attempts)}, failure // it may have shown what it read
	}
	if failure == nil && tx.run.o.DryRun {
		return (&commit{tx: tx}).rehearse(ctx)
	}
	if failure == nil && (tx.local.wrote() || tx.run.o.CommitAlways) {
		return (&commit{tx: tx}).store(ctx)
	}
	if err := tx.check(ctx); err != nil {
		return Outcome{}, err
	}
	return Outcome{Effects: tx.local.effects(tx.run.attempts)}, failure
}

// check checks, for an attempt that stores nothing, that the guards and everything it read hold at one moment.
func (tx *Tx) check(ctx context.Context) error {
	r := tx.run
	if r.db.breaks(lastLook) || len(r.o.Guards) == 0 && tx.reads.held.Empty() {
		return nil
	}
	records, err := tx.read(ctx, r.guardKeys())
	if err != nil {
		return err
	}
	return r.guardsHold(tx.reads.at, func(i int) storage.Record { return records[i] })
}
