package bolt

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"github.com/toolrun/toolrun/host/storage"
)

// Limits of one commit of a removal, so that it does not delay the commits of others.
const (
	maxRemoved      = 1000
	maxRemovedBytes = 2 << 20
	maxRemovedTime  = 4 * time.Millisecond // of reading candidates
)

// DeleteWhere implements storage.Backend.
func (b *Backend) DeleteWhere(ctx context.Context, what storage.Selector, limit int) ([]storage.Head, error) {
	if err := what.Check(limit); err != nil {
		return nil, err
	}
	r := &removal{b: b, limit: limit, match: what.Matches}
	var err error
	switch {
	case len(what.Keys) > 0:
		r.match = func(storage.Record) bool { return true }
		err = r.keys(ctx, what.Keys)
	case !what.Expired.IsZero():
		err = r.expired(ctx, search{at: what.Expired, group: what.Group})
	case what.Tag == "":
		r.sender = sender{what.Prefix.Tenant(), what.Prefix}
		err = r.indexed(ctx, func(t *transaction, from []byte) entries {
			return under(t.records, []byte(what.Prefix), from, func(k []byte) (storage.Key, bool) { return storage.Key(k), true })
		})
	default:
		r.sender = sender{cmp.Or(what.Prefix.Tenant(), what.Group.Tenant()), cmp.Or(what.Prefix, what.Group)}
		err = r.indexed(ctx, func(t *transaction, from []byte) entries {
			return under(t.tags, tagEntry(what.Group, what.Tag, what.Prefix), from, keyOfTag)
		})
	}
	return r.removed, cmp.Or(err, r.unreadable)
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

// maxLooked is the number of records that a sweep looks at in one read transaction: while it lasts,
// no update can grow the file, and pages that others free are kept.
const maxLooked = 1000

// maxGroupLooked is the number of records that a sweep of one group looks at. All groups share the
// index of expiry times, so records of other groups lie in between.
const maxGroupLooked = 50_000

// search is the state of a sweep of the index of expiry times.
type search struct {
	at     time.Time
	group  storage.Key // of the records to find; "" for all
	looked int         // records so far
	next   []byte      // the entry to continue with
	done   bool
}

// expired removes expired records. It searches for them outside of commits, because all commits
// would wait while it skips other records. The commit then checks the records that were found.
func (r *removal) expired(ctx context.Context, s search) error {
	for len(r.removed) < r.limit && !s.done && (s.group == "" || s.looked < maxGroupLooked) {
		keys, err := r.find(ctx, &s)
		if err != nil {
			return err
		}
		// Neighbours are removed together: the pages that they share are written once, and what
		// lies between stays.
		slices.Sort(keys)
		if err := r.keys(ctx, keys); err != nil {
			return err
		}
	}
	return nil
}

// find looks at the next records, at most maxLooked, and returns the keys of those that have
// expired, as many as may still be removed.
func (r *removal) find(ctx context.Context, s *search) (keys []storage.Key, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	limit := r.limit - len(r.removed)
	err = r.b.read(func(tx *bbolt.Tx) error {
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
			if !s.at.Before(begin.Add(expirySlot * time.Microsecond)) { // all of the slot has expired: no need to read the record
				keys = append(keys, key)
				continue
			}
			found, err := fetchHead(tx, key)
			size += found.ContentBytes // the content may have been read for its checksum
			if err != nil {
				r.unreadable = err
			} else if found.Expired(s.at) {
				keys = append(keys, key)
			}
		}
		s.done = true
		return nil
	})
	return keys, err
}

// counts reports whether the record under key is in the group that is swept.
func (s *search) counts(key storage.Key) bool {
	group, ok := key.Group()
	return s.group == "" || ok && group == s.group
}

// entries yields the index entries of records that may match, with their keys.
type entries = iter.Seq2[[]byte, storage.Key]

// under returns the entries of an index with a prefix, in the form that key returns, up to the
// first that key rejects. It begins at from, if from is not nil.
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

// listed returns keys as entries that are not in an index.
func listed(keys []storage.Key) entries {
	return func(yield func([]byte, storage.Key) bool) {
		for _, k := range keys {
			if !yield(nil, k) {
				return
			}
		}
	}
}

// removal is a removal of records in commits of a bounded size.
type removal struct {
	b      *Backend
	sender sender // whose turn the commits take
	limit  int    // of the records that are removed
	match  func(storage.Record) bool
	// removed has the records that were removed so far.
	removed    []storage.Head
	unreadable error // of the last record that could not be read
}

// indexed removes the matching candidates of an index, in passes, until a pass finds none. A pass
// misses records that others write before its position; the next pass finds them.
func (r *removal) indexed(ctx context.Context, candidates func(t *transaction, from []byte) entries) error {
	for {
		var from []byte
		chunks, before := 0, len(r.removed)
		r.unreadable = nil
		for more := true; more; {
			c, err := r.chunk(ctx, func(t *transaction) entries { return candidates(t, from) })
			if err != nil || len(r.removed) == r.limit {
				return err
			}
			chunks++
			from, more = c.next, c.next != nil
		}
		if chunks == 1 || len(r.removed) == before {
			return nil
		}
	}
}

// keys removes the records under keys that match. It looks at each once.
func (r *removal) keys(ctx context.Context, keys []storage.Key) error {
	r.sender = senderOf(keys) // of all chunks: the size of one predicts that of the next
	for len(keys) > 0 && len(r.removed) < r.limit {
		c, err := r.chunk(ctx, func(*transaction) entries { return listed(keys) })
		if err != nil {
			return err
		}
		keys = keys[c.looked:]
	}
	return nil
}

// chunk is one commit of a removal.
type chunk struct {
	doomed     []storage.Head
	bytes      int64  // contents looked at
	looked     int    // candidates
	next       []byte // the entry to continue with, nil at the end; not used for keys that are listed
	unreadable error  // of the last record that could not be read
	began      time.Time
}

// full reports whether a commit that removes up to limit records should not look at more
// candidates: because of their number or size, or because it has taken longer than timeout and has
// looked at any.
func (c *chunk) full(limit int, timeout time.Duration) bool {
	return c.looked >= maxRemoved || len(c.doomed) >= limit || c.bytes >= maxRemovedBytes ||
		c.looked > 0 && time.Since(c.began) > timeout
}

// chunk removes the first candidates that match, as many as one commit should. It checks the
// records themselves, because an index only names candidates. Contents stay in the file.
func (r *removal) chunk(ctx context.Context, candidates func(*transaction) entries) (chunk, error) {
	var c chunk
	err := r.b.submit(ctx, r.sender, func(t *transaction) error {
		c = chunk{began: time.Now()}
		for entry, k := range candidates(t) {
			if c.full(r.limit-len(r.removed), r.b.chunkTime) {
				c.next = bytes.Clone(entry)
				break
			}
			c.look(t, k, r.match)
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
	r.removed = append(r.removed, c.doomed...)
	r.unreadable = cmp.Or(c.unreadable, r.unreadable)
	return c, nil
}

// look adds the record under a key to the records to remove, if it matches.
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
