package txn

import (
	"context"
	"errors"
	"slices"

	"github.com/toolrun/toolrun/host/storage"
)

// maxReads is the maximum number of times that a read is tried. A read is tried again if its
// records change during the read.
const maxReads = 4

// errRaced means that a scanned range changed during a read, but no record in the read set changed.
var errRaced = errors.New("the range changed while it was read")

// keySet is a sorted list of keys without duplicates.
type keySet []storage.Key

func newKeySet(keys []storage.Key) keySet {
	slices.Sort(keys)
	return slices.Compact(keys)
}

// find returns the index of a key, or -1 if the set does not contain the key.
func (s keySet) find(key storage.Key) int {
	if i, ok := slices.BinarySearch(s, key); ok {
		return i
	}
	return -1
}

// fetch returns an entry for each key. All entries are from one snapshot. In the snapshot, the read
// set and the ranges must be unchanged. The method also reads the records on which the lifetimes of
// the entries depend.
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

// entriesOf returns entries for the first n records. The lifetimes of the first n records can
// depend on other records. The result "missing" contains the keys of those other records that were
// not read.
//
// entriesOf is separate from fetch to save stack space. The records of entriesOf are then not on
// the stack during the read, which is the deepest point of a run. A smaller stack matters, because
// Go copies a goroutine's stack when the stack outgrows its size.
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

// read returns the records whose keys are in the argument "want". The records are from a snapshot
// in which the read set and the ranges are unchanged. If a record in the read set has changed, the
// attempt ends. If a range has changed but no record in the read set has changed, the method
// returns errRaced.
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
// is a lower bound of the revision of the new record. After readFloor, a change of the floor is a
// conflict.
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
