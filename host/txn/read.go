package txn

import (
	"context"
	"errors"
	"slices"

	"github.com/toolrun/toolrun/host/storage"
)

// maxReads is the maximum number of times that a read is repeated because its records have changed.
const maxReads = 4

// errRaced means that only a scanned range changed during the read.
var errRaced = errors.New("the range changed while it was read")

// keySet is a sorted list of keys without duplicates.
type keySet []storage.Key

func newKeySet(keys []storage.Key) keySet {
	slices.Sort(keys)
	return slices.Compact(keys)
}

// The method "find" returns the index of a key, or -1.
func (s keySet) find(key storage.Key) int {
	if i, ok := slices.BinarySearch(s, key); ok {
		return i
	}
	return -1
}

// The method "fetch" returns an entry for each key. All entries are from one snapshot in which the
// read set and the ranges are unchanged. The method also reads the records on which the lifetimes
// of the entries depend.
func (tx *Tx) fetch(ctx context.Context, keys []storage.Key, ranges ...storage.Range) ([]entry, error) {
	want := keys
	for range maxReads {
		records, err := tx.read(ctx, want, ranges...)
		if err != nil {
			return nil, err
		}
		entries, missing := tx.entriesOf(len(keys), want, records)
		if len(missing) == 0 {
			return entries, nil
		}
		want = append(want[:len(keys):len(keys)], missing...)
	}
	return nil, tx.conflict()
}

// entriesOf returns entries for the first n records. The result "missing" contains the keys of
// records on which the lifetimes of the first n records depend and that were not read.
//
// entriesOf is separate from fetch to keep the records of entriesOf off the stack during the read,
// which is the deepest point of a run. A smaller stack matters, because Go copies a goroutine's
// stack when the stack outgrows its size.
func (tx *Tx) entriesOf(n int, keys []storage.Key, records []storage.Record) (entries []entry, missing []storage.Key) {
	find := func(dep storage.Key) *storage.Record {
		if i := slices.Index(keys, dep); i >= 0 {
			return &records[i]
		}
		return nil
	}
	entries = make([]entry, n)
	for i := range entries {
		e := &entries[i]
		e.key, e.raw, e.at = keys[i], records[i], tx.reads.held.Since
		l, alive, lacks := tx.reads.visible(&e.raw, tx.reads.at, find)
		if e.life = l; alive {
			e.base = e.raw
		}
		for _, key := range lacks {
			if !slices.Contains(missing, key) {
				missing = append(missing, key)
			}
		}
	}
	return entries, missing
}

// The method "read" returns the records with the keys in the argument "want" from a snapshot in
// which the read set and the ranges are unchanged. If a record in the read set has changed, the
// attempt ends. If only the ranges have changed, the error is errRaced.
func (tx *Tx) read(ctx context.Context, want []storage.Key, ranges ...storage.Range) ([]storage.Record, error) {
	for range maxReads {
		records, err := tx.reads.read(ctx, want, ranges)
		if errors.Is(err, ErrConflict) {
			return nil, tx.conflict()
		}
		if !errors.Is(err, storage.ErrChanged) {
			return records, err
		}
		if len(ranges) > 0 {
			if _, err := tx.read(ctx, nil); err != nil {
				return nil, err
			}
			return nil, errRaced
		}
		if err := tx.refresh(ctx); err != nil {
			return nil, err
		}
	}
	return nil, tx.conflict()
}

// readFloor reads the floor of a new record before the body sees the record's revision. The floor
// is a lower bound of the revision of the new record. After readFloor, the attempt depends on the
// floor.
func (tx *Tx) readFloor(ctx context.Context, e *entry) error {
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
