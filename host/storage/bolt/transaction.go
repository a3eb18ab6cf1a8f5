package bolt

import (
	"maps"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/toolrun/toolrun/host/storage"
)

// buckets are the buckets of one bbolt transaction.
type buckets struct{ records, expiry, ends, usage *bbolt.Bucket }

func openBuckets(tx *bbolt.Tx) buckets {
	return buckets{
		records: tx.Bucket(recordsBucket), expiry: tx.Bucket(expiryBucket),
		ends: tx.Bucket(endsBucket), usage: tx.Bucket(usageBucket),
	}
}

// fetch returns the records under keys, copied out of the file.
func fetch(tx *bbolt.Tx, keys []storage.Key) ([]storage.Record, error) {
	found := make([]storage.Record, len(keys))
	records := tx.Bucket(recordsBucket)
	for i, k := range keys {
		bucket := records
		if _, ok := storage.UsageGroup(k); ok {
			bucket = tx.Bucket(usageBucket)
		}
		data := bucket.Get([]byte(k))
		if data == nil {
			continue
		}
		r, err := storage.DecodeRecord(k, data)
		if err != nil {
			return nil, err
		}
		found[i] = r
	}
	return found, nil
}

// fetchHead returns the head of the record under a key, which is none of a usage record.
func fetchHead(tx *bbolt.Tx, k storage.Key) (storage.Head, error) {
	data := tx.Bucket(recordsBucket).Get([]byte(k))
	if data == nil {
		return storage.Head{}, nil
	}
	return storage.DecodeHead(k, data)
}

// transaction is a bbolt write transaction that several requests share, each seeing what those before it did.
type transaction struct {
	tx *bbolt.Tx
	buckets
	// changed holds the groups whose usage changed: their records are written once, at the end.
	changed map[storage.Key]storage.Usage
	// torn is true while a request writes, and stays so where that failed: the transaction is spoiled then.
	torn  bool
	wrote bool
	bytes int64 // contents written and removed, about
}

func newTransaction(tx *bbolt.Tx) *transaction {
	return &transaction{tx: tx, buckets: openBuckets(tx), changed: make(map[storage.Key]storage.Usage)}
}

// run carries out the first n of batch: all of them, or as many as one commit should hold.
func (t *transaction) run(batch []*request) (n int, err error) {
	for _, r := range batch {
		if t.bytes >= maxBatchBytes {
			break
		}
		n++
		if !r.begin() {
			continue
		}
		r.err = guard(func() error { return r.do(t) })
		if t.torn {
			return n, r.err
		}
	}
	if !t.wrote {
		return n, errNothing
	}
	return n, t.writeUsage()
}

// get returns the records under keys as they are in this transaction.
func (t *transaction) get(keys []storage.Key) ([]storage.Record, error) {
	found, err := fetch(t.tx, keys)
	if err != nil {
		return nil, err
	}
	for i, k := range keys {
		if group, ok := storage.UsageGroup(k); ok {
			if u, ok := t.changed[group]; ok {
				found[i] = storage.UsageRecord(group, u)
			}
		}
	}
	return found, nil
}

// apply makes changes. Where it fails before it wrote anything, the transaction is as before.
func (t *transaction) apply(changes []storage.Change) error {
	usage, err := t.usageAfter(changes)
	if err != nil || len(changes) == 0 {
		return err
	}
	t.torn = true
	for _, c := range changes {
		if err := t.put(c); err != nil {
			return err
		}
		t.bytes += max(int64(len(c.Record.Content)), c.Old.ContentBytes)
	}
	maps.Copy(t.changed, usage)
	t.torn, t.wrote = false, true
	return nil
}

func (t *transaction) put(c storage.Change) error {
	k := []byte(c.Record.Key)
	next := c.Record
	if c.Delete {
		next = storage.Record{Key: next.Key}
		if err := t.records.Delete(k); err != nil {
			return err
		}
	} else if err := t.records.Put(k, storage.AppendRecord(nil, next)); err != nil {
		return err
	}
	return t.index(c.Old.Record, next)
}

// index brings the indexes from what they are for the old record to what they are for the next, where a
// record that does not exist has no entries. It touches only what differs.
func (t *transaction) index(old, next storage.Record) error {
	if old.Expires.IsZero() != next.Expires.IsZero() || !slotOf(old.Expires).Equal(slotOf(next.Expires)) {
		if !old.Expires.IsZero() {
			if err := t.expiry.Delete(expiryEntry(old.Expires, next.Key)); err != nil {
				return err
			}
		}
		if !next.Expires.IsZero() {
			if err := t.expiry.Put(expiryEntry(next.Expires, next.Key), nil); err != nil {
				return err
			}
		}
	}
	for _, tag := range old.Ends {
		if !slices.Contains(next.Ends, tag) {
			if err := t.ends.Delete(endEntry(tag, next.Key)); err != nil {
				return err
			}
		}
	}
	for _, tag := range next.Ends {
		if !slices.Contains(old.Ends, tag) {
			if err := t.ends.Put(endEntry(tag, next.Key), nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// usageAfter returns the usage of every group that changes touch, as it is after them.
func (t *transaction) usageAfter(changes []storage.Change) (map[storage.Key]storage.Usage, error) {
	var after map[storage.Key]storage.Usage
	for _, c := range changes {
		added := c.Usage()
		if added == (storage.Usage{}) {
			continue
		}
		group, ok := c.Record.Key.Group()
		if !ok {
			continue
		}
		u, known := after[group]
		if !known {
			found, err := t.get([]storage.Key{storage.UsageKey(group)})
			if err != nil {
				return nil, err
			}
			if u, err = storage.DecodeUsage(found[0]); err != nil {
				return nil, err
			}
		}
		if after == nil {
			after = make(map[storage.Key]storage.Usage)
		}
		after[group] = u.Plus(added)
	}
	return after, nil
}

func (t *transaction) writeUsage() error {
	for group, u := range t.changed {
		k := []byte(storage.UsageKey(group))
		if u.Records == 0 {
			if err := t.usage.Delete(k); err != nil {
				return err
			}
			continue
		}
		if err := t.usage.Put(k, storage.AppendRecord(nil, storage.UsageRecord(group, u))); err != nil {
			return err
		}
	}
	return nil
}
