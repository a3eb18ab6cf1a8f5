package bolt

import (
	"maps"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"github.com/toolrun/toolrun/host/storage"
)

// buckets contains the buckets of the file in one bbolt transaction.
type buckets struct{ records, usage, floors *bbolt.Bucket }

func openBuckets(tx *bbolt.Tx) buckets {
	return buckets{
		records: tx.Bucket(recordsBucket), usage: tx.Bucket(usageBucket), floors: tx.Bucket(floorsBucket),
	}
}

// fetch returns the records under the given keys. The fetched records share no memory with the
// file.
func fetch(tx *bbolt.Tx, keys []storage.Key) ([]storage.Record, error) {
	found := make([]storage.Record, len(keys))
	records := tx.Bucket(recordsBucket)
	for i, k := range keys {
		if err := fetchOne(tx, records, k, &found[i]); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func fetchOne(tx *bbolt.Tx, records *bbolt.Bucket, k storage.Key, r *storage.Record) error {
	data := bucketOf(tx, records, k).Get([]byte(k))
	if data == nil {
		return nil
	}
	return decodeInto(r, tx, k, data)
}

// fetchHead returns the head of the record under a key. The key must not be a floor.
func fetchHead(tx *bbolt.Tx, k storage.Key) (storage.Head, error) {
	data := tx.Bucket(recordsBucket).Get([]byte(k))
	if data == nil {
		return storage.Head{}, nil
	}
	return decodeHead(tx, k, data)
}

// bucketOf returns the bucket that contains the record under k.
func bucketOf(tx *bbolt.Tx, records *bbolt.Bucket, k storage.Key) *bbolt.Bucket {
	if storage.IsFloor(k) {
		return tx.Bucket(floorsBucket)
	}
	return records
}

// transaction is a bbolt write transaction that several requests share. Each request sees the
// writes of the earlier requests in the transaction.
type transaction struct {
	tx *bbolt.Tx
	id int
	buckets
	// entries contains the changes to the indexes. The changes are written at the end of the
	// transaction. deferred contains the deferred changes of earlier commits. deferredBytes is the
	// size of the deferred changes that this transaction has added.
	entries       indexChanges
	deferred      *deferred
	deferredBytes int
	// If settle is true, the transaction writes all deferred changes to the indexes. After the
	// transaction has written all deferred changes, settled is true.
	settle, settled bool
	// changed contains the accounts whose usage has changed. The usage of each account is written
	// once, at the end of the transaction.
	changed map[storage.Key]storage.Usage
	// looked maps accounts to the usage that was read from the file.
	looked map[storage.Key]storage.Usage
	// raised contains the floors that were raised. The transaction writes the raised floors
	// together with the usage.
	raised map[storage.Key]int64
	// torn is true while a request writes to the file. If a write fails, torn stays true, and the
	// transaction must be rolled back.
	torn  bool
	wrote bool
	// written contains the writes of the requests, in order. history contains the writes of earlier
	// commits.
	written []storage.Changed
	history *storage.History
	bytes   int64 // the approximate size of written and removed contents, in bytes
	// nextPiece is the number for the next piece that the transaction writes. nextPiece is 0 if the
	// number has not been read from the file yet.
	nextPiece uint64
}

func newTransaction(tx *bbolt.Tx, history *storage.History, d *deferred) *transaction {
	return &transaction{
		tx: tx, id: tx.ID(), buckets: openBuckets(tx), history: history, deferred: d,
		changed: make(map[storage.Key]storage.Usage), looked: make(map[storage.Key]storage.Usage), raised: make(map[storage.Key]int64),
	}
}

// run executes the first n requests of a batch and returns n. The method executes at least one
// request. The method then stops when the commit reaches a limit or the timeout has passed.
func (t *transaction) run(batch []*request, timeout time.Duration) (n int, err error) {
	began := time.Now()
	for _, r := range batch {
		if n > 0 && (t.bytes >= maxBatchBytes || time.Since(began) > timeout) {
			break
		}
		n++
		if !r.begin() {
			continue
		}
		before := t.bytes
		r.err = guard(func() error { return r.do(t) })
		r.bytes = t.bytes - before
		if t.torn {
			return n, r.err
		}
	}
	if !t.wrote {
		return n, errNothing
	}
	if err := t.writeDerived(); err != nil {
		return n, err
	}
	t.history.Add(uint64(t.tx.ID()), t.written) // the history must contain the changes before readers see the commit
	return n, nil
}

// get returns the records under the given keys, as this transaction sees them.
func (t *transaction) get(keys []storage.Key) ([]storage.Record, error) {
	found := make([]storage.Record, len(keys))
	for i, k := range keys {
		if revision, ok := t.raised[k]; ok {
			found[i] = storage.FloorRecord(k, revision)
			continue
		}
		if err := fetchOne(t.tx, t.records, k, &found[i]); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// usageOf returns the usage of an account, as this transaction sees the usage.
func (t *transaction) usageOf(account storage.Key) (storage.Usage, error) {
	if u, ok := t.changed[account]; ok {
		return u, nil
	}
	if u, ok := t.looked[account]; ok {
		return u, nil
	}
	u, err := usageOf(t.usage, account)
	if err == nil {
		t.looked[account] = u
	}
	return u, err
}

// apply writes changes if the changes do not exceed a budget. If the method fails before the first
// write, the transaction is unchanged.
func (t *transaction) apply(changes []storage.Change, budget storage.Budget) error {
	if len(changes) == 0 {
		return nil
	}
	growth := storage.GrowthOf(changes)
	if err := budget.Check(&growth, t.usageOf); err != nil {
		return err
	}
	for account := range growth.All() {
		if _, err := t.usageOf(account); err != nil {
			return err
		}
	}
	floors, err := t.floorsAfter(changes)
	if err != nil {
		return err
	}
	t.torn = true
	for _, c := range changes {
		if err := t.put(c); err != nil {
			return err
		}
		t.written = append(t.written, c.Changed())
		t.bytes += max(int64(len(c.Record.Content)), c.Old.ContentBytes)
	}
	for account, added := range growth.All() {
		before, _ := t.usageOf(account) // usageOf cannot fail, because the field "looked" contains the usage
		t.changed[account] = before.Plus(added)
	}
	maps.Copy(t.raised, floors)
	t.torn, t.wrote = false, true
	return nil
}

func (t *transaction) put(c storage.Change) error {
	k := []byte(c.Record.Key)
	next := c.Record
	if c.Old.ContentBytes > pieceBytes {
		if err := t.discard(next.Key); err != nil {
			return err
		}
	}
	if c.Delete {
		next = storage.Record{Key: next.Key}
		if err := t.records.Delete(k); err != nil {
			return err
		}
		t.index(c.Old.Record, next)
		return nil
	}
	value, err := t.encode(next)
	if err != nil {
		return err
	}
	if err := t.records.Put(k, value); err != nil {
		return err
	}
	t.index(c.Old.Record, next)
	return nil
}

// index updates the indexes after a write has replaced a record. The method changes an index entry
// only if the entries of the old record and of the new record differ. If a record does not exist,
// it has no index entries.
func (t *transaction) index(old, next storage.Record) {
	if old.Expires.IsZero() != next.Expires.IsZero() || !slotOf(old.Expires).Equal(slotOf(next.Expires)) {
		if !old.Expires.IsZero() {
			t.entries.set(expiryIndex, string(expiryEntry(old.Expires, next.Key)), false)
		}
		if !next.Expires.IsZero() {
			t.entries.set(expiryIndex, string(expiryEntry(next.Expires, next.Key)), true)
		}
	}
	t.indexTags(old, next)
}

// indexTags works like the method "index", but updates the tag index.
func (t *transaction) indexTags(old, next storage.Record) {
	if slices.Equal(old.Tags, next.Tags) {
		return
	}
	group, _ := next.Key.Group()
	for _, tag := range old.Tags {
		if !slices.Contains(next.Tags, tag) {
			t.entries.set(tagIndex, string(tagEntry(group, tag, next.Key)), false)
		}
	}
	for _, tag := range next.Tags {
		if !slices.Contains(old.Tags, tag) {
			t.entries.set(tagIndex, string(tagEntry(group, tag, next.Key)), true)
		}
	}
}

// floorsAfter returns the floors that the given changes raise, with their new revisions.
func (t *transaction) floorsAfter(changes []storage.Change) (map[storage.Key]int64, error) {
	var raised map[storage.Key]int64
	for _, c := range changes {
		floor, revision := c.Floor()
		if floor == "" {
			continue
		}
		before, known := raised[floor]
		if !known {
			found, err := t.get([]storage.Key{floor})
			if err != nil {
				return nil, err
			}
			before = found[0].Revision
		}
		if revision > before {
			if raised == nil {
				raised = map[storage.Key]int64{}
			}
			raised[floor] = revision
		}
	}
	return raised, nil
}

// writeDerived writes the index entries, the usage and the floors that the requests changed.
func (t *transaction) writeDerived() error {
	if err := t.writeIndexes(); err != nil {
		return err
	}
	for account, u := range t.changed {
		if err := putUsage(t.usage, account, u); err != nil {
			return err
		}
	}
	for floor, revision := range t.raised {
		if err := t.floors.Put([]byte(floor), storage.AppendRecord(nil, storage.FloorRecord(floor, revision))); err != nil {
			return err
		}
	}
	return nil
}
