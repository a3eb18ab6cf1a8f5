package bolt

import (
	"bytes"
	"context"

	"go.etcd.io/bbolt"

	"github.com/toolrun/toolrun/host/storage"
)

// Read implements storage.Backend.
func (b *Backend) Read(ctx context.Context, want []storage.Key, held storage.Held) ([]storage.Record, storage.Position, error) {
	if err := ctx.Err(); err != nil {
		return nil, storage.Position{}, err
	}
	var found []storage.Record
	var commit uint64
	err := b.read(func(tx *bbolt.Tx) (err error) {
		commit = uint64(tx.ID())
		if err = check(tx, b.history.Suspects(held, commit, nil)); err == nil {
			found, err = fetch(tx, want)
		}
		return err
	})
	if err != nil {
		return nil, storage.Position{}, err
	}
	return found, storage.EndOf(commit), nil
}

// Changes implements storage.Backend. The history begins when the backend opens the database.
func (b *Backend) Changes(ctx context.Context, prefix storage.Key, since storage.Position, limit int) (changes []storage.Changed, next storage.Position, err error) {
	if err := storage.CheckLimit(limit); err != nil {
		return nil, storage.Position{}, err
	}
	if err := ctx.Err(); err != nil {
		return nil, storage.Position{}, err
	}
	err = b.read(func(tx *bbolt.Tx) error {
		changes, next, err = b.history.Changes(prefix, since, limit, uint64(tx.ID()))
		return err
	})
	return changes, next, err
}

// check returns storage.ErrChanged if an observation in the argument "held" is no longer true.
// check reads versions, but it reads neither contents nor checksums.
func check(tx *bbolt.Tx, held storage.Held) error {
	if held.Empty() {
		return nil
	}
	records := tx.Bucket(recordsBucket)
	return held.Check(
		func(v storage.Version) (bool, error) {
			return storage.HasVersion(encodedRecord(bucketOf(tx, records, v.Key).Get([]byte(v.Key))), v)
		},
		func(g storage.Range) (bool, error) { return sameRange(records, g) },
	)
}

// sameRange reports whether the current versions in a range are equal to the observed versions.
func sameRange(records *bbolt.Bucket, g storage.Range) (bool, error) {
	seen := g.Seen
	c := records.Cursor()
	for k, data := c.Seek([]byte(max(g.Prefix, g.After))); k != nil && bytes.HasPrefix(k, []byte(g.Prefix)); k, data = c.Next() {
		if string(k) == string(g.After) {
			continue
		}
		if g.Last != "" && string(k) > string(g.Last) {
			break
		}
		if len(seen) == 0 || string(seen[0].Key) != string(k) {
			return false, nil
		}
		if ok, err := storage.HasVersion(encodedRecord(data), seen[0]); err != nil || !ok {
			return false, err
		}
		seen = seen[1:]
	}
	return len(seen) == 0, nil
}

// The method check works like the function check, but reads through a write transaction and sees
// the writes of that transaction.
func (t *transaction) check(held storage.Held) error {
	if held.Empty() {
		return nil
	}
	besides := make([]storage.Key, len(t.written))
	for i, c := range t.written {
		besides[i] = c.Key
	}
	suspects := t.history.Suspects(held, uint64(t.tx.ID())-1, besides)
	floors := func(v storage.Version) (bool, error) {
		found, err := t.get([]storage.Key{v.Key})
		return err == nil && storage.VersionOf(v.Key, found[0]) == v, err
	}
	return suspects.Check(
		func(v storage.Version) (bool, error) {
			if storage.IsFloor(v.Key) {
				return floors(v)
			}
			return storage.HasVersion(encodedRecord(t.records.Get([]byte(v.Key))), v)
		},
		func(g storage.Range) (bool, error) { return sameRange(t.records, g) },
	)
}
