package txn

import (
	"context"
	"time"

	"github.com/toolrun/toolrun/host/storage"
)

// Tx is one attempt of a transaction. Tx is not safe for concurrent use. A Tx is invalid after its
// body has returned. Callers must not modify contents that they pass to a Tx or get from a Tx.
type Tx struct {
	run   *run
	local overlay
	reads readSet
	// depth is the number of open savepoints. nested counts all savepoints of the attempt.
	depth, nested int
	// The field "over" is the error that ended the attempt. again is true if the body will be
	// executed again after the error.
	over  error
	again bool
}

// Now returns the time of the run in UTC, truncated to microseconds. The timestamps of written
// records are equal to the time of the run.
func (tx *Tx) Now() time.Time { return tx.run.now }

// Seed returns a seed for random numbers. All attempts of a run get the same seed. If the random
// source fails, Seed returns its error.
func (tx *Tx) Seed() (uint64, error) {
	err := tx.run.draw()
	return tx.run.seed, err
}

// Get returns the record under key, as the transaction sees the record. Get returns the zero Record
// if the record does not exist or has expired. Get adds the record to the read set. If the
// transaction itself wrote the record, Get returns the record that the commit will store.
func (tx *Tx) Get(ctx context.Context, key storage.Key) (r storage.Record, err error) {
	e, err := tx.load(ctx, key, true)
	if err == nil {
		err = tx.show(ctx, e, &r)
	}
	return r, err
}

// Holds reports whether the key is in the read set of the attempt.
func (tx *Tx) Holds(key storage.Key) bool {
	e := tx.local.find(key)
	return e != nil && e.read
}

// Stored returns the stored record under the given key, even if the record has expired. The
// transaction must have used the key before.
func (tx *Tx) Stored(key storage.Key) storage.Record {
	if e := tx.local.find(key); e != nil {
		return e.raw
	}
	return storage.Record{}
}

// Writes iterates over the records that the transaction has written so far. The argument "stored"
// is the record before the transaction. The argument "next" is the record after the transaction. If
// the transaction deletes the record, "next" is the zero Record. The commit can still change the
// revisions of the written records.
func (tx *Tx) Writes(yield func(stored, next storage.Record) bool) {
	for _, e := range tx.local.entries {
		var next storage.Record
		tx.pending(e, &next)
		if e.write.set && !yield(e.raw, next) {
			return
		}
	}
}

// show sets r to the state that the record of an entry will have after the commit. The entry must
// be in the read set.
func (tx *Tx) show(ctx context.Context, e *entry, r *storage.Record) error {
	if e.write.set && e.write.next.Exists() && !e.base.Exists() {
		if err := tx.readFloor(ctx, e); err != nil {
			return err
		}
	}
	tx.pending(e, r)
	return nil
}

// pending sets r to the record of an entry after all updates of the attempt.
func (tx *Tx) pending(e *entry, r *storage.Record) {
	if !e.write.set {
		*r = e.base
		return
	}
	tx.run.stamp(r, &e.base, max(e.above, e.raw.Revision), &e.write)
}

// usable returns the error that ended the attempt, or nil.
func (tx *Tx) usable() error {
	if err := tx.run.ctx.Err(); tx.over == nil && err != nil {
		tx.over = err
	}
	return tx.over
}

// load returns the entry of a record and reads the record if necessary. If the argument "read" is
// true, the record joins the read set.
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
	fetched, err := tx.fetch(ctx, []storage.Key{key})
	if err != nil {
		return nil, err
	}
	now := &fetched[0]
	if e == nil && tx.local.bytes > 0 && tx.local.bytes+len(now.raw.Content) > MaxBytes {
		return nil, ErrLimit
	}
	return tx.bring(e, now, read)
}

// bring replaces the entry of a key. The argument "now" is the new entry. The argument "old" is the
// previous entry, or nil if the key had no entry. Like entriesOf, the method is a separate function
// to save stack space.
func (tx *Tx) bring(old, now *entry, read bool) (*entry, error) {
	if old != nil && old.write.set && !sameState(old, now) && !tx.run.db.breaks(joinsHold) {
		return nil, tx.conflict() // the result of the updates depends on a record that has changed
	}
	e := tx.local.put(now)
	if read {
		tx.join(e)
		tx.reads.hold(&e.raw, e.key)
	}
	return e, nil
}

// sameState reports whether two entries of a key have the same visible record. An expired record is
// equivalent to an absent record.
func sameState(e, now *entry) bool {
	return !e.base.Exists() && !now.base.Exists() || same(e.raw, e.base, now.raw, now.base)
}

// The function "same" reports whether two states of a record have the same version and the same
// visibility.
func same(raw, base, otherRaw, otherBase storage.Record) bool {
	return raw.SameVersion(otherRaw) && base.Exists() == otherBase.Exists()
}

// join adds an entry to the read set. For the check at the commit, the caller must also hold the
// version of the entry, or a range that contains the entry.
func (tx *Tx) join(e *entry) {
	e.read = true
	tx.local.dropUpdates(e)
	if !tx.reads.depend(e) {
		_ = tx.conflict() // the next use of the Tx returns the error
	}
}

// conflict ends the attempt with ErrConflict.
func (tx *Tx) conflict() error {
	tx.over, tx.again = ErrConflict, true
	return ErrConflict
}
