package bolt

import (
	"bytes"
	"iter"
	"slices"

	"go.etcd.io/bbolt"
)

// The index entries of one commit belong to distant pages of the indexes, and bbolt writes each
// changed page and its branch pages as a whole. A commit therefore does not write the indexes. A
// commit appends the changes of their entries to the bucket of deferred changes, which takes one or
// two pages. If the bucket exceeds maxDeferred, the next commit writes all deferred changes to the
// indexes and empties the bucket.
//
// Readers of an index apply the deferred changes themselves; see [indexEntries].

// maxDeferred is the maximum size of the deferred changes, in bytes. A larger value saves page
// writes, but a commit that writes the changes to the indexes takes longer.
const maxDeferred = 16 << 10

// readDeferred returns the wanted deferred changes in a transaction, and the size of all deferred
// changes in bytes.
func readDeferred(tx *bbolt.Tx, want wanted) (c indexChanges, bytes int, err error) {
	err = tx.Bucket(deferredBucket).ForEach(func(key, part []byte) error {
		bytes += len(part)
		return c.decode(key, part, want)
	})
	return c, bytes, err
}

// indexEntries yields the entries of an index that have a prefix, in order. indexEntries starts at
// the entry in the argument "from". If "from" is nil, indexEntries yields all entries with the
// prefix. The argument "changes" contains the deferred changes.
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

// deferred is a copy of the deferred changes after a commit. Only the goroutine that commits uses
// the copy.
type deferred struct {
	commit  int // the id of the commit; 0 if the changes are unknown
	changes indexChanges
	bytes   int
}

// The method "load" reads the deferred changes into d at the start of a transaction, unless d
// already contains them.
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

// indexChanges returns all changes that the indexes do not contain yet: the deferred changes of
// earlier commits and the transaction's own changes.
func (t *transaction) indexChanges() (all indexChanges, err error) {
	if err := t.deferred.load(t.tx); err != nil {
		return all, err
	}
	all.add(t.deferred.changes)
	all.add(t.entries)
	return all, nil
}

// writeIndexes writes the transaction's changes to the indexes. Usually, writeIndexes only appends
// the changes to the deferred changes. If the deferred changes exceed maxDeferred, or if the
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
	bucket.FillPercent = 1 // the keys of parts are in the order in which the parts are appended
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

// committed updates d after the commit of a transaction.
func (d *deferred) committed(t *transaction) {
	switch {
	case t.settled:
		*d = deferred{commit: t.id}
	case d.commit == t.id-1:
		d.changes.add(t.entries)
		d.commit, d.bytes = t.id, d.bytes+t.deferredBytes
	}
}
