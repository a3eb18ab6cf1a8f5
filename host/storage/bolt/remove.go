package bolt

import (
	"bytes"
	"context"
	"iter"
	"slices"
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

// maxLooked is how many records a read transaction of a sweep looks at: while it lasts, no update can make the
// file grow, and the pages that others free are kept.
const maxLooked = 1000

// Sweep implements storage.Backend. What has expired is looked for outside of commits, which would all wait
// behind a slot of records that have not; a commit then looks again at those that were found.
func (b *Backend) Sweep(ctx context.Context, at time.Time, limit int) (int, error) {
	if err := storage.CheckLimit(limit); err != nil {
		return 0, err
	}
	expired := func(r storage.Record) bool { return r.Expired(at) }
	removed, s := 0, search{at: at}
	for removed < limit && !s.done {
		keys, err := b.find(ctx, &s, limit-removed)
		if err != nil {
			return removed, err
		}
		if len(keys) == 0 {
			continue
		}
		n, err := b.remove(ctx, len(keys), expired, func(*transaction) entries { return slices.Values(keys) })
		if removed += n; err != nil {
			return removed, err
		}
	}
	return removed, s.unreadable
}

// search is how far a sweep has come in the index.
type search struct {
	at         time.Time
	next       []byte // the entry to go on with
	done       bool
	unreadable error // of the last record that cannot be read
}

// find looks at the next records, at most maxLooked, and returns the keys of up to limit that have expired.
func (b *Backend) find(ctx context.Context, s *search, limit int) (keys []storage.Key, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	err = b.read(func(tx *bbolt.Tx) error {
		looked := 0
		c := tx.Bucket(expiryBucket).Cursor()
		for entry, _ := c.Seek(s.next); entry != nil; entry, _ = c.Next() {
			begin, key, ok := expiryOf(entry)
			if !ok || s.at.Before(begin) {
				break
			}
			if looked == maxLooked || len(keys) == limit {
				s.next = bytes.Clone(entry)
				return nil
			}
			looked++
			found, err := fetch(tx, []storage.Key{key})
			if err != nil {
				s.unreadable = err
			} else if found[0].Expired(s.at) {
				keys = append(keys, key)
			}
		}
		s.done = true
		return nil
	})
	return keys, err
}

// entries yields the keys of records that may match.
type entries = iter.Seq[storage.Key]

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
