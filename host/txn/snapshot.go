package txn

import (
	"context"
	"errors"

	"github.com/toolrun/toolrun/host/storage"
)

// maxLooks bounds how often a snapshot is taken again because a record depends on others than it did.
const maxLooks = 4

// look reads a record, and what its life depends on, in a snapshot in which everything that is held is unchanged.
func (tx *Tx) look(ctx context.Context, key storage.Key) (*entry, error) {
	want := []storage.Key{key}
	for range maxLooks {
		records, err := tx.read(ctx, want)
		if err != nil {
			return nil, err
		}
		e, missing := tx.entryOf(want, records)
		if len(missing) == 0 {
			return e, nil
		}
		want = append(want[:1:1], missing...)
	}
	return nil, tx.conflict()
}

// entryOf makes an entry of the first of the records that were read under keys. Missing are keys that its life depends on
// besides. It is not part of look, because its records would be on the stack during the read, which is the deepest point
// of a run: a stack that outgrows the next power of two is copied.
func (tx *Tx) entryOf(keys []storage.Key, records []storage.Record) (e *entry, missing []storage.Key) {
	e = &entry{key: keys[0], raw: records[0], at: tx.reads.held.Since}
	e.base, e.life, missing = tx.reads.visible(e.raw, tx.reads.at, func(dep storage.Key) (storage.Record, bool) {
		return recordOf(keys, records, dep)
	})
	return e, missing
}

// recordOf returns the record of one of keys.
func recordOf(keys []storage.Key, records []storage.Record, key storage.Key) (storage.Record, bool) {
	for i, k := range keys {
		if k == key {
			return records[i], true
		}
	}
	return storage.Record{}, false
}

// read returns the records under want from a snapshot in which everything that is held is unchanged; otherwise the attempt
// is over.
func (tx *Tx) read(ctx context.Context, want []storage.Key) ([]storage.Record, error) {
	for range maxLooks {
		records, err := tx.reads.read(ctx, want)
		if errors.Is(err, ErrConflict) {
			return nil, tx.conflict()
		}
		if !errors.Is(err, storage.ErrChanged) {
			return records, err
		}
		if err := tx.refresh(ctx); err != nil {
			return nil, err
		}
	}
	return nil, tx.conflict()
}

// floor finds out above which revision a record begins, before the body sees the revision that it will have; the attempt
// then depends on it.
func (tx *Tx) floor(ctx context.Context, e *entry) error {
	if e.floored {
		return nil
	}
	above := e.raw.Revision
	if key := storage.FloorKey(e.key); key != "" {
		records, err := tx.read(ctx, []storage.Key{key})
		if err != nil {
			return err
		}
		above = max(above, records[0].Revision)
		if !tx.run.db.breaks(floorsHold) {
			tx.reads.hold(&records[0], key)
		}
	}
	e.above, e.floored = above, true
	return nil
}
