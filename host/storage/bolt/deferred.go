package bolt

import (
	"bytes"
	"iter"
	"slices"

	"go.etcd.io/bbolt"
)

// The index entries of one commit are in many different pages of the indexes. For each changed
// page, bbolt writes the whole page and its branch pages. A commit therefore does not write the
// indexes. A commit appends the changes of the index entries to the bucket of deferred changes.
// Each append writes only one or two pages of the bucket. If the bucket exceeds maxDeferred, the
// next commit writes all deferred changes to the indexes and empties the bucket.
//
// Readers of an index apply the deferred changes to what they read; see [indexEntries].

// maxDeferred is the maximum size of the deferred changes, in bytes. With a larger maximum, commits
// write fewer pages on average. However, a commit that writes the deferred changes to the indexes
// takes longer.
const maxDeferred = 16 << 10

// readDeferred reads the deferred changes in a transaction. The results are the changes that the
// function "want" selects, and the size of all deferred changes in bytes.
func readDeferred(tx *bbolt.Tx, want wanted) (c indexChanges, bytes int, err error) {
	err = tx.Bucket(deferredBucket).ForEach(func(key, part []byte) error {
		bytes += len(part)
		return c.decode(key, part, want)
	})
	return c, bytes, err
}

// indexEntries yields the index entries that have a prefix, in order. The iteration starts at the
// entry "from". If "from" is nil, the iteration starts at the first entry with the prefix. The
// argument "changes" contains the deferred changes.
func indexEntries(tx *bbolt.Tx, changes indexChanges, in index, prefix, from []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		start := slices.MaxFunc([][]byte{prefix, from}, bytes.Compare)
		changed := changes.under(in, prefix)
		at, _ := slices.BinarySearch(changed, string(start))
		changed = changed[at:]
		c := tx.Bucket(indexBuckets[in]).Cursor()
		stored, _ := c.Seek(start)
		for stored != nil || len(changed) > 0 {
			if stored == nil || len(changed) > 0 && changed[0] < string(stored) {
				if changes[in][changed[0]] && !yield([]byte(changed[0])) {
					return
				}
				changed = changed[1:]
				continue
			}
			if !bytes.HasPrefix(stored, prefix) {
				stored = nil
				continue
			}
			if present, ok := changes[in][string(stored)]; (!ok || present) && !yield(stored) {
				return
			}
			if len(changed) > 0 && changed[0] == string(stored) {
				changed = changed[1:]
			}
			stored, _ = c.Next()
		}
	}
}

// deferred is an in-memory copy of the deferred changes after the last commit. Only the goroutine
// that commits uses the copy.
type deferred struct {
	commit  int // the id of the commit; 0 if the changes are unknown
	changes indexChanges
	bytes   int
}

// load reads the deferred changes into d at the start of a transaction, unless d already contains
// them.
func (d *deferred) load(tx *bbolt.Tx) (err error) {
	if d.commit == tx.ID()-1 {
		return nil
	}
	*d = deferred{}
	if d.changes, d.bytes, err = readDeferred(tx, nil); err == nil {
		d.commit = tx.ID() - 1
	}
	return err
}

// indexChanges returns all changes that are not in the indexes yet. The result contains the
// deferred changes of earlier commits and the transaction's own changes.
func (t *transaction) indexChanges() (all indexChanges, err error) {
	if err := t.deferred.load(t.tx); err != nil {
		return all, err
	}
	all.add(t.deferred.changes)
	all.add(t.entries)
	return all, nil
}

// writeIndexes stores the transaction's index changes. Usually, writeIndexes only appends the
// changes to the deferred changes. If the deferred changes exceed maxDeferred, or if the
// transaction's field "settle" is true, writeIndexes writes all deferred changes to the indexes.
func (t *transaction) writeIndexes() error {
	if t.entries.empty() && !t.settle {
		return nil
	}
	if err := t.deferred.load(t.tx); err != nil {
		return err
	}
	if t.settle {
		return t.settleIndexes()
	}
	parts := t.entries.encode(t.id)
	for _, part := range parts {
		t.deferredBytes += len(part)
	}
	if t.deferred.bytes+t.deferredBytes > maxDeferred {
		return t.settleIndexes()
	}
	bucket := t.tx.Bucket(deferredBucket)
	bucket.FillPercent = 1 // each appended part has a greater key than the previous part
	for i, part := range parts {
		if err := bucket.Put(partKey(t.id, i), part); err != nil {
			return err
		}
	}
	return nil
}

// settleIndexes writes all deferred changes and the transaction's own changes to the indexes.
func (t *transaction) settleIndexes() error {
	all, err := t.indexChanges()
	if err != nil {
		return err
	}
	for in, name := range indexBuckets {
		bucket := t.tx.Bucket(name)
		for _, entry := range all.under(index(in), nil) {
			change := bucket.Delete
			if all[in][entry] {
				change = func(entry []byte) error { return bucket.Put(entry, nil) }
			}
			if err := change([]byte(entry)); err != nil {
				return err
			}
		}
	}
	t.settled = true
	if t.deferred.bytes == 0 {
		return nil
	}
	if err := t.tx.DeleteBucket(deferredBucket); err != nil { // replacing the bucket is faster than removing each entry
		return err
	}
	_, err = t.tx.CreateBucket(deferredBucket)
	return err
}

// committed updates d after a transaction has been committed.
func (d *deferred) committed(t *transaction) {
	switch {
	case t.settled:
		*d = deferred{commit: t.id}
	case d.commit == t.id-1:
		d.changes.add(t.entries)
		d.commit, d.bytes = t.id, d.bytes+t.deferredBytes
	}
}
