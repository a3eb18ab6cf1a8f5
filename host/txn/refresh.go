package txn

import (
	"context"
	"errors"

	"github.com/toolrun/toolrun/host/storage"
)

// refresh is called when a record or a range in the read set has changed. The removal of an expired
// record is not a conflict, because the body did not see the record even before the removal. After
// the removal of an expired record, refresh updates the entry of the record. Any other change of
// the read set is a conflict.
func (tx *Tx) refresh(ctx context.Context) error {
	dead, loose := tx.local.dead()
	if len(dead) == 0 {
		return tx.conflict()
	}
	held := tx.reads.held
	held.Versions = nil
	for _, v := range tx.reads.held.Versions {
		if loose.find(v.Key) < 0 {
			held.Versions = append(held.Versions, v)
		}
	}
	now, at, err := tx.run.db.backend.Read(ctx, loose, held)
	if errors.Is(err, storage.ErrChanged) {
		return tx.conflict()
	}
	if err != nil {
		return err
	}
	if !tx.local.replaceDead(dead, loose, now) {
		return tx.conflict()
	}
	for i, key := range loose {
		held.Versions = append(held.Versions, storage.VersionOf(key, now[i]))
	}
	held.Since = at
	tx.reads.held = held
	return nil
}

// dead returns the entries in the read set whose records had expired when they were read. The
// result "loose" contains the keys of the dead entries and of their floors. The versions of the
// keys in "loose" can change without a conflict.
func (o *overlay) dead() (entries []*entry, loose keySet) {
	for _, e := range o.entries {
		if !e.read || e.ranged || !e.raw.Exists() || e.base.Exists() {
			continue
		}
		entries, loose = append(entries, e), append(loose, e.key)
		if floor := storage.FloorKey(e.key); e.floored && floor != "" {
			loose = append(loose, floor)
		}
	}
	return entries, newKeySet(loose)
}

// replaceDead replaces the records of dead entries with the current records. If the body would see
// a different state with the current records, replaceDead returns false.
func (o *overlay) replaceDead(dead []*entry, loose keySet, now []storage.Record) bool {
	for _, e := range dead {
		r := now[loose.find(e.key)]
		if r.Exists() && !r.SameVersion(e.raw) {
			return false
		}
		o.count(e, -1)
		e.raw = r
		o.count(e, 1)
	}
	for _, e := range o.entries {
		if !e.floored {
			continue
		}
		if i := loose.find(storage.FloorKey(e.key)); i >= 0 && max(e.raw.Revision, now[i].Revision) != e.above {
			return false
		}
	}
	return true
}
