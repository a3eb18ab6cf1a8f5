package txn

import (
	"context"
	"errors"

	"github.com/toolrun/toolrun/host/storage"
)

// refresh deals with something that is held and changed. That a record whose life had ended was removed is no change: for
// the body there was none before. Its entry then holds the state of today. Any other change is a conflict.
func (tx *Tx) refresh(ctx context.Context) error {
	var dead []*entry
	loose := map[storage.Key]bool{} // may have changed
	for _, e := range tx.local.entries {
		if e.read && !e.ranged && e.raw.Exists() && !e.base.Exists() {
			dead = append(dead, e)
			loose[e.key] = true
			if floor := storage.FloorKey(e.key); e.floored && floor != "" {
				loose[floor] = true
			}
		}
	}
	if len(dead) == 0 {
		return tx.conflict()
	}
	held := tx.reads.held
	held.Versions = nil
	var keys []storage.Key
	for _, v := range tx.reads.held.Versions {
		if loose[v.Key] {
			keys = append(keys, v.Key)
		} else {
			held.Versions = append(held.Versions, v)
		}
	}
	records, at, err := tx.run.db.backend.Read(ctx, keys, held)
	if errors.Is(err, storage.ErrChanged) {
		return tx.conflict()
	}
	if err != nil {
		return err
	}
	return tx.refreshed(dead, keys, records, held, at)
}

// refreshed takes over what refresh found, if what the body has seen is still so.
func (tx *Tx) refreshed(dead []*entry, keys []storage.Key, records []storage.Record, held storage.Held, at storage.Position) error {
	for _, e := range dead {
		now, _ := recordOf(keys, records, e.key)
		if now.Exists() && !now.SameVersion(e.raw) {
			return tx.conflict()
		}
		tx.local.bytes += len(now.Content) - len(e.raw.Content)
		e.raw = now
	}
	for _, e := range tx.local.entries {
		floor, ok := recordOf(keys, records, storage.FloorKey(e.key))
		if e.floored && ok && max(e.raw.Revision, floor.Revision) != e.above {
			return tx.conflict()
		}
	}
	for i, key := range keys {
		held.Versions = append(held.Versions, storage.VersionOf(key, records[i]))
	}
	held.Since = at
	tx.reads.held = held
	return nil
}
