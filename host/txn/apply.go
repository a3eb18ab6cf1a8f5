package txn

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/toolrun/toolrun/host/storage"
)

// State contains the fields of a record that an Update sets. The transaction sets the other fields
// of the record.
type State struct {
	Content []byte // JSON text; nil deletes the record
	Expires time.Time
	Tags    []string
	// Revision is the minimum revision of the stored record. Revision is usually 0.
	Revision int64
}

// Update is a function that computes the new state of a record. The argument "old" is the record
// that the transaction sees, or the zero Record if the transaction sees no record. The warnings are
// reported in Change.Warnings.
//
// An update must be a pure function, because the transaction may call the update again with a newer
// record. An update must not modify its arguments. If the argument "locked" is true, the update
// runs inside the backend's transaction and blocks other commits. If "locked" is true, a slow
// update must return an error.
type Update func(old *storage.Record, locked bool) (next State, warnings any, err error)

// Apply applies an update to a record. The update receives the record that the transaction sees. If
// the key is not in the read set, the update is blind: Apply does not add the key to the read set.
// If the record of a blind update changes before the commit, the commit applies the update again to
// the latest record. If the repeated update fails, the transaction executes the body again.
//
// If the update returns an error, Apply returns the same error and changes nothing. The error of an
// update depends on the record. After any error except ErrUndecided, Apply therefore adds the key
// to the read set. Apply also adds the key to the read set if one more blind update would exceed
// MaxUpdates or MaxBlindBytes.
func (tx *Tx) Apply(ctx context.Context, key storage.Key, update Update) error {
	if tx.run.o.ReadOnly {
		return ErrReadOnly
	}
	if err := tx.run.draw(); err != nil {
		return err
	}
	e, err := tx.load(ctx, key, false)
	if err != nil {
		return err
	}
	u := new(updated)
	tx.pending(e, &u.old)
	if u.next, u.warnings, err = update(&u.old, false); err != nil {
		if tx.run.db.breaks(refusalsJoin) || errors.Is(err, ErrUndecided) {
			return err
		}
		return cmp.Or(tx.joinDecided(ctx, e), err)
	}
	if !e.read && (len(e.write.updates) >= MaxUpdates || tx.local.blindBytes+len(u.next.Content) > MaxBlindBytes) {
		if err := tx.joinDecided(ctx, e); err != nil {
			return err
		}
	}
	return u.keep(tx, e, update)
}

// updated is the result of an update.
type updated struct {
	old      storage.Record
	next     State
	warnings any
}

// keep adds the result of an update to the writes of the attempt.
func (u *updated) keep(tx *Tx, e *entry, update Update) error {
	cost := len(u.next.Content)
	if !tx.local.fits(e, cost) {
		return ErrLimit
	}
	if tx.depth > 0 {
		tx.local.save(e)
	}
	tx.local.count(e, -1)
	e.write.put(e.key, &u.old, &u.next, u.warnings)
	tx.local.count(e, 1)
	if !e.read {
		e.write.updates = append(e.write.updates[:len(e.write.updates):len(e.write.updates)], update)
		e.write.bytes += cost
		tx.local.blindBytes += cost
	}
	return nil
}

// joinDecided adds an entry to the read set after an update of the entry failed. The failure
// depends on the record of the entry. If the record of the entry has changed since the update,
// joinDecided ends the attempt with a conflict.
func (tx *Tx) joinDecided(ctx context.Context, e *entry) error {
	raw, base := e.raw.Version(), e.base.Exists()
	if _, err := tx.load(ctx, e.key, true); err != nil {
		return err
	}
	if (base || e.base.Exists()) && (raw != e.raw.Version() || base != e.base.Exists()) {
		return tx.conflict()
	}
	return nil
}

// put sets the record that the attempt will write. The argument "old" is the record that the body
// sees before the write.
func (w *write) put(key storage.Key, old *storage.Record, next *State, warnings any) {
	w.set, w.warnings = true, warnings
	if next.Content == nil {
		w.next, w.fresh = storage.Record{}, false
		return
	}
	w.fresh = w.fresh || !old.Exists()
	w.next = storage.Record{Key: key, Content: next.Content, Expires: next.Expires, Tags: next.Tags, Revision: max(next.Revision, 1)}
}

// reapply applies the blind updates of an entry again, but to another base record. The argument
// "budget" matters only inside the backend's transaction, and is the number of bytes that the
// updates may still read and write. Otherwise budget is nil.
func (tx *Tx) reapply(e *entry, base storage.Record, above int64, budget *int) (write, error) {
	w, now := write{updates: e.write.updates, bytes: e.write.bytes}, base
	for _, update := range e.write.updates {
		next, warnings, err := update(&now, budget != nil)
		if err != nil {
			return write{}, err
		}
		if budget != nil {
			if *budget -= len(now.Content) + len(next.Content); *budget < 0 {
				return write{}, errMissed
			}
		}
		w.put(e.key, &now, &next, warnings)
		tx.run.stamp(&now, &base, above, &w)
	}
	return w, nil
}
