package bolt

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"github.com/toolrun/toolrun/host/storage"
)

// What one commit of a removal takes out at most, so that it does not hold up the commits of others.
const (
	maxRemoved      = 1000
	maxRemovedBytes = 2 << 20
	maxRemovedTime  = 4 * time.Millisecond // of looking at candidates
)

// DeleteWhere implements storage.Backend.
func (b *Backend) DeleteWhere(ctx context.Context, what storage.Selector, limit int) ([]storage.Head, error) {
	if err := what.Check(limit); err != nil {
		return nil, err
	}
	switch {
	case len(what.Keys) > 0:
		return b.removeKeys(ctx, what.Keys, limit, func(storage.Record) bool { return true })
	case !what.Expired.IsZero():
		return b.removeExpired(ctx, what, limit)
	}
	sent := sender{cmp.Or(what.Prefix.Tenant(), what.Group.Tenant()), cmp.Or(what.Prefix, what.Group)}
	return b.remove(ctx, sent, limit, what.Matches, func(t *transaction, from []byte) entries {
		if what.Tag == "" {
			return under(t.records, []byte(what.Prefix), from, func(k []byte) (storage.Key, bool) { return storage.Key(k), true })
		}
		return under(t.tags, tagEntry(what.Group, what.Tag, what.Prefix), from, keyOfTag)
	})
}

// keyOfTag returns the key in an entry of the index of tags.
func keyOfTag(entry []byte) (storage.Key, bool) {
	_, _, key, ok := tagOf(entry)
	return key, ok
}

// ScanTag implements storage.Backend.
func (b *Backend) ScanTag(ctx context.Context, what storage.Selector, after storage.Key, limit int) (found []storage.Head, err error) {
	if err := what.CheckTag(limit); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	err = b.read(func(tx *bbolt.Tx) error {
		prefix, from := tagEntry(what.Group, what.Tag, what.Prefix), tagEntry(what.Group, what.Tag, max(what.Prefix, after))
		for _, k := range under(tx.Bucket(tagsBucket), prefix, from, keyOfTag) {
			if len(found) == limit {
				break
			}
			if k == after {
				continue
			}
			head, err := fetchHead(tx, k)
			if err != nil {
				return err
			}
			if head.Exists() {
				found = append(found, head)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// maxLooked is how many records a read transaction of a sweep looks at: while it lasts, no update can make the
// file grow, and the pages that others free are kept.
const maxLooked = 1000

// maxGroupLooked is how many records a sweep of one group looks at: the index of what expires is one for all
// groups, so that those of others lie in between.
const maxGroupLooked = 50_000

// removeExpired is DeleteWhere for what has expired. That is looked for outside of commits, which would all wait
// behind a slot of records that have not; a commit then looks again at those that were found.
func (b *Backend) removeExpired(ctx context.Context, what storage.Selector, limit int) (removed []storage.Head, err error) {
	s := search{at: what.Expired, group: what.Group}
	for len(removed) < limit && !s.done && (s.group == "" || s.looked < maxGroupLooked) {
		keys, err := b.find(ctx, &s, limit-len(removed))
		if err != nil {
			return removed, err
		}
		if len(keys) == 0 {
			continue
		}
		// Neighbours go together: the pages that they share are written once, and what lies between stays.
		slices.Sort(keys)
		gone, err := b.removeKeys(ctx, keys, len(keys), what.Matches)
		removed = append(removed, gone...)
		if errors.Is(err, storage.ErrCorrupt) {
			s.unreadable = err
		} else if err != nil {
			return removed, err
		}
	}
	return removed, s.unreadable
}

// search is how far a sweep has come in the index.
type search struct {
	at         time.Time
	group      storage.Key // whose records are looked for; "" for all
	looked     int         // records so far
	next       []byte      // the entry to go on with
	done       bool
	unreadable error // of the last record that cannot be read
}

// find looks at the next records, at most maxLooked, and returns the keys of up to limit that have expired.
func (b *Backend) find(ctx context.Context, s *search, limit int) (keys []storage.Key, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	err = b.read(func(tx *bbolt.Tx) error {
		looked, size := 0, int64(0)
		c := tx.Bucket(expiryBucket).Cursor()
		for entry, _ := c.Seek(s.next); entry != nil; entry, _ = c.Next() {
			begin, key, ok := expiryOf(entry)
			if !ok || s.at.Before(begin) {
				break
			}
			if looked == maxLooked || len(keys) == limit || size >= maxRemovedBytes {
				s.next = bytes.Clone(entry)
				return nil
			}
			looked++
			s.looked++
			if !s.counts(key) {
				continue
			}
			if !s.at.Before(begin.Add(expirySlot * time.Microsecond)) { // the slot is over: nothing to look up yet
				keys = append(keys, key)
				continue
			}
			found, err := fetchHead(tx, key)
			size += found.ContentBytes // which may have been read for their checksum
			if err != nil {
				s.unreadable = err
			} else if found.Expired(s.at) {
				keys = append(keys, key)
			}
		}
		s.done = true
		return nil
	})
	return keys, err
}

// counts reports whether the record under key is one of those that are looked for.
func (s *search) counts(key storage.Key) bool {
	group, ok := key.Group()
	return s.group == "" || ok && group == s.group
}

// entries yields the index entries of records that may match, with their keys.
type entries = iter.Seq2[[]byte, storage.Key]

// under yields the entries with a prefix, and what key makes of them, up to the first that it refuses. It begins at
// from, if that is not nil.
func under(bucket *bbolt.Bucket, prefix, from []byte, key func(entry []byte) (storage.Key, bool)) entries {
	return func(yield func([]byte, storage.Key) bool) {
		if from == nil {
			from = prefix
		}
		c := bucket.Cursor()
		for entry, _ := c.Seek(from); entry != nil && bytes.HasPrefix(entry, prefix); entry, _ = c.Next() {
			if k, ok := key(entry); !ok || !yield(entry, k) {
				return
			}
		}
	}
}

// listed yields keys that are in no index.
func listed(keys []storage.Key) entries {
	return func(yield func([]byte, storage.Key) bool) {
		for _, k := range keys {
			if !yield(nil, k) {
				return
			}
		}
	}
}

// remove deletes up to limit of the candidates that match, in commits of a bounded size, until it has seen none
// left: what others write meanwhile, before the place where it is, is found by another pass.
func (b *Backend) remove(ctx context.Context, sent sender, limit int, match func(storage.Record) bool, candidates func(t *transaction, from []byte) entries) ([]storage.Head, error) {
	var removed []storage.Head
	for {
		var from []byte
		var unreadable error
		once, before := true, len(removed)
		for more := true; more; {
			c, err := b.removeChunk(ctx, sent, limit-len(removed), match, func(t *transaction) entries { return candidates(t, from) })
			removed = append(removed, c.doomed...)
			if err != nil {
				return removed, err
			}
			if c.unreadable != nil {
				unreadable = c.unreadable
			}
			if len(removed) == limit {
				return removed, unreadable
			}
			once = once && c.next == nil
			from, more = c.next, c.next != nil
		}
		if once || len(removed) == before {
			return removed, unreadable
		}
	}
}

// removeKeys is remove for candidates that are known. Each is looked at once.
func (b *Backend) removeKeys(ctx context.Context, keys []storage.Key, limit int, match func(storage.Record) bool) ([]storage.Head, error) {
	var removed []storage.Head
	var unreadable error
	sent := senderOf(keys) // of all chunks: each foretells the next one
	for len(keys) > 0 && len(removed) < limit {
		c, err := b.removeChunk(ctx, sent, limit-len(removed), match, func(*transaction) entries { return listed(keys) })
		removed = append(removed, c.doomed...)
		if err != nil {
			return removed, err
		}
		if c.unreadable != nil {
			unreadable = c.unreadable
		}
		keys = keys[c.looked:]
	}
	return removed, unreadable
}

// chunk is what one commit of a removal does.
type chunk struct {
	doomed     []storage.Head
	bytes      int64  // contents looked at
	looked     int    // candidates
	next       []byte // the entry to go on with, nil at the end; not used for keys that are listed
	unreadable error  // of the last record that cannot be read
	began      time.Time
}

// full reports whether the commit of a removal of up to limit records should look no further, or for more time than most
// if it has looked at any.
func (c *chunk) full(limit int, most time.Duration) bool {
	return c.looked >= maxRemoved || len(c.doomed) >= limit || c.bytes >= maxRemovedBytes ||
		c.looked > 0 && time.Since(c.began) > most
}

// removeChunk deletes the first candidates that match, as many as one commit should, looking at the records
// themselves: an index only says where to look. Contents stay in the file.
func (b *Backend) removeChunk(ctx context.Context, from sender, limit int, match func(storage.Record) bool, candidates func(*transaction) entries) (chunk, error) {
	var c chunk
	err := b.submit(ctx, from, func(t *transaction) error {
		c = chunk{began: time.Now()}
		for entry, k := range candidates(t) {
			if c.full(limit, b.chunkTime) {
				c.next = bytes.Clone(entry)
				break
			}
			c.look(t, k, match)
		}
		changes := make([]storage.Change, len(c.doomed))
		for i, h := range c.doomed {
			changes[i] = storage.Removal(h)
		}
		return t.apply(changes, storage.Budget{})
	})
	if err != nil {
		return chunk{}, err
	}
	return c, nil
}

// look adds the record under a key to those that are removed, if it matches.
func (c *chunk) look(t *transaction, k storage.Key, match func(storage.Record) bool) {
	c.looked++
	found, err := fetchHead(t.tx, k)
	if err != nil {
		c.unreadable = err
		return
	}
	c.bytes += found.ContentBytes
	if found.Exists() && match(found.Record) {
		c.doomed = append(c.doomed, found)
	}
}
