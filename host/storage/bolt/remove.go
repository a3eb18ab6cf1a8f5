package bolt

import (
	"bytes"
	"context"
	"time"

	"go.etcd.io/bbolt"

	"github.com/toolrun/toolrun/host/storage"
)

// Drop implements storage.Backend.
func (b *Backend) Drop(ctx context.Context, what storage.Selector, limit int) (int, error) {
	if err := what.Check(limit); err != nil {
		return 0, err
	}
	return b.remove(ctx, limit, what.Matches, func(t *transaction) entries {
		if what.End == "" {
			return under(t.records, []byte(what.Prefix), func(k []byte) (storage.Key, bool) { return storage.Key(k), true })
		}
		return under(t.ends, endEntry(what.End, what.Prefix), func(entry []byte) (storage.Key, bool) {
			_, key, ok := endOf(entry)
			return key, ok
		})
	})
}

// Sweep implements storage.Backend.
func (b *Backend) Sweep(ctx context.Context, at time.Time, limit int) (int, error) {
	if err := storage.CheckLimit(limit); err != nil {
		return 0, err
	}
	expired := func(r storage.Record) bool { return r.Expired(at) }
	return b.remove(ctx, limit, expired, func(t *transaction) entries {
		return under(t.expiry, nil, func(entry []byte) (storage.Key, bool) {
			expires, key, ok := expiryOf(entry)
			return key, ok && !at.Before(expires)
		})
	})
}

// entries yields the keys of records that may match.
type entries func(yield func(storage.Key) bool)

// under yields what key makes of the entries with a prefix, up to the first that it refuses.
func under(bucket *bbolt.Bucket, prefix []byte, key func(entry []byte) (storage.Key, bool)) entries {
	return func(yield func(storage.Key) bool) {
		c := bucket.Cursor()
		for entry, _ := c.Seek(prefix); entry != nil && bytes.HasPrefix(entry, prefix); entry, _ = c.Next() {
			if k, ok := key(entry); !ok || !yield(k) {
				return
			}
		}
	}
}

// remove deletes up to limit of the candidates that match, looking at the records themselves: an index only
// says where to look.
func (b *Backend) remove(ctx context.Context, limit int, match func(storage.Record) bool, candidates func(*transaction) entries) (int, error) {
	var doomed []storage.Change
	var unreadable error
	err := b.submit(ctx, func(t *transaction) error {
		doomed, unreadable = nil, nil
		for k := range candidates(t) {
			found, err := t.get([]storage.Key{k})
			if err != nil {
				unreadable = err
				continue
			}
			if r := found[0]; match(r) {
				doomed = append(doomed, storage.Change{Old: r, Write: storage.Write{Record: r, Delete: true}})
			}
			if len(doomed) == limit {
				break
			}
		}
		return t.apply(doomed)
	})
	if err != nil {
		return 0, err
	}
	return len(doomed), unreadable
}
