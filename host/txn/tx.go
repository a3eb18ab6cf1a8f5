package txn

import (
	"context"
	"time"

	"github.com/toolrun/toolrun/host/storage"
)

// Tx is what one attempt of a transaction reads and writes. It is used by one goroutine at a time, and good until its body
// returns. Contents that it returns, or is given, must not be changed.
type Tx struct {
	run   *run
	local overlay
	reads readSet
	// depth and nested count savepoints: those that are open, and all.
	depth, nested int
	// over is set once the attempt cannot succeed any more, and again if the body is then executed again.
	over  error
	again bool
}

// Now returns the time of the run, in UTC and whole microseconds: what the records that it writes bear.
func (tx *Tx) Now() time.Time { return tx.run.now }

// Seed returns the seed for random numbers of the run. Its error is that of the random source.
func (tx *Tx) Seed() (uint64, error) {
	err := tx.run.draw()
	return tx.run.seed, err
}

// Get returns the record under key as the transaction sees it: the zero Record if there is none, or none that is alive.
// It joins the read set. A record that the transaction itself wrote comes as it will be stored.
func (tx *Tx) Get(ctx context.Context, key storage.Key) (r storage.Record, err error) {
	e, err := tx.load(ctx, key, true)
	if err == nil {
		err = tx.seen(ctx, e, &r)
	}
	return r, err
}

// Holds reports whether the key is in the read set.
func (tx *Tx) Holds(key storage.Key) bool {
	e := tx.local.find(key)
	return e != nil && e.read
}

// Stored returns what lies under a key that the transaction has touched, whether it is alive or not.
func (tx *Tx) Stored(key storage.Key) storage.Record {
	if e := tx.local.find(key); e != nil {
		return e.raw
	}
	return storage.Record{}
}

// Writes calls yield with each record that the transaction has written so far, as it lies there and as it will be stored:
// a zero Record for one that is removed. Revisions are not final.
func (tx *Tx) Writes(yield func(stored, next storage.Record) bool) {
	for _, e := range tx.local.entries {
		var next storage.Record
		tx.pending(e, &next)
		if e.write.set && !yield(e.raw, next) {
			return
		}
	}
}

// seen makes r the record of an entry in the read set, as it will be after the commit.
func (tx *Tx) seen(ctx context.Context, e *entry, r *storage.Record) error {
	if e.write.set && e.write.next.Exists() && !e.base.Exists() {
		if err := tx.floor(ctx, e); err != nil {
			return err
		}
	}
	tx.pending(e, r)
	return nil
}

// pending makes r what the attempt makes of an entry's base.
func (tx *Tx) pending(e *entry, r *storage.Record) {
	if !e.write.set {
		*r = e.base
		return
	}
	tx.run.stamp(r, &e.base, max(e.above, e.raw.Revision), &e.write)
}

// usable returns why the Tx cannot be used any more.
func (tx *Tx) usable() error {
	if err := tx.run.ctx.Err(); tx.over == nil && err != nil {
		tx.over = err
	}
	return tx.over
}

// load brings a record into the attempt and, if read is set, into the read set.
func (tx *Tx) load(ctx context.Context, key storage.Key, read bool) (*entry, error) {
	if err := tx.usable(); err != nil {
		return nil, err
	}
	if tx.reads.unverified {
		if _, err := tx.read(ctx, nil); err != nil {
			return nil, err
		}
	}
	e := tx.local.find(key)
	if e != nil && (e.read || !read) {
		return e, nil
	}
	if e == nil && len(tx.local.entries) >= MaxRecords {
		return nil, ErrLimit
	}
	now, err := tx.look(ctx, key)
	if err != nil {
		return nil, err
	}
	if e == nil && tx.local.bytes > 0 && tx.local.bytes+len(now.raw.Content) > MaxBytes {
		return nil, ErrLimit
	}
	return tx.bring(e, now, read)
}

// bring makes what was read of a record the entry of its key, instead of old if that is not nil. It is not part of load
// for the same reason as entryOf is not part of look.
func (tx *Tx) bring(old, now *entry, read bool) (*entry, error) {
	if old != nil && old.write.set && !sameState(old, now) && !tx.run.db.breaks(joinsHold) {
		return nil, tx.conflict() // the updates were decided on another record
	}
	e := tx.local.put(now)
	if read {
		tx.join(e)
		tx.reads.hold(&e.raw, e.key)
	}
	return e, nil
}

// sameState reports whether two entries of a key have the same base. A record that had ended is as good as one that was
// swept since.
func sameState(e, now *entry) bool {
	if !e.base.Exists() && !now.base.Exists() {
		return true
	}
	return e.raw.SameVersion(now.raw) && e.base.Exists() == now.base.Exists()
}

// join puts an entry into the read set. Its version must be held from now on.
func (tx *Tx) join(e *entry) {
	e.read = true
	tx.local.keepOnly(e)
	if !tx.reads.depend(e) {
		_ = tx.conflict() // which the next use of the Tx returns
	}
}

// conflict ends the attempt.
func (tx *Tx) conflict() error {
	tx.over, tx.again = ErrConflict, true
	return ErrConflict
}
