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

// The following constants limit each commit of a removal, so that other commits do not wait long.
const (
	maxRemoved      = 1000
	maxRemovedBytes = 2 << 20
	maxRemovedTime  = 4 * time.Millisecond // time for reading candidates
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
		err = r.indexed(ctx, func(t *transaction, from []byte) (entries, error) {
			return under(t.records, []byte(what.Prefix), from), nil
		})
	default:
		r.sender = sender{cmp.Or(what.Prefix.Tenant(), what.Group.Tenant()), cmp.Or(what.Prefix, what.Group)}
		err = r.indexed(ctx, func(t *transaction, from []byte) (entries, error) {
			changes, err := t.indexChanges()
			return taggedEntries(t.tx, changes, tagEntry(what.Group, what.Tag, what.Prefix), from), err
		})
	}
	return r.removed, cmp.Or(err, r.unreadable)
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
		changes, _, err := readDeferred(tx, func(in index, tag []byte) bool { return in == tagIndex && string(tag) == what.Tag })
		if err != nil {
			return err
		}
		prefix, from := tagEntry(what.Group, what.Tag, what.Prefix), tagEntry(what.Group, what.Tag, max(what.Prefix, after))
		for _, k := range taggedEntries(tx, changes, prefix, from) {
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

// maxLooked is the maximum number of records that a sweep checks in one read transaction. While a
// read transaction is open, bbolt cannot remap a growing file, and cannot reuse pages that other
// transactions free.
const maxLooked = 1000

// maxGroupLooked is the maximum number of records that a sweep checks if the sweep is limited to
// one group. All groups share the expiry index, so the sweep also reads entries of other groups.
const maxGroupLooked = 50_000

// search is the state of a sweep of the expiry index.
type search struct {
	at     time.Time
	group  storage.Key // the group of the records to find; "" for all groups
	looked int         // the number of records that were checked so far
	next   []byte      // the entry at which to continue
	done   bool
}

// expired removes expired records. The method searches for expired records outside commits, because
// other commits must not wait for the search. A commit checks again whether a record that the
// search found has expired.
func (r *removal) expired(ctx context.Context, s search) error {
	for len(r.removed) < r.limit && !s.done && (s.group == "" || s.looked < maxGroupLooked) {
		keys, err := r.find(ctx, &s)
		if err != nil {
			return err
		}
		// Adjacent records are removed in the same commit. If several records are on one page, the
		// commit writes the page only once.
		slices.Sort(keys)
		if err := r.keys(ctx, keys); err != nil {
			return err
		}
	}
	return nil
}

// find checks at most maxLooked further records and returns the keys of expired records. The number
// of returned keys is at most the number of records that the sweep may still remove.
func (r *removal) find(ctx context.Context, s *search) (keys []storage.Key, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	limit := r.limit - len(r.removed)
	err = r.b.read(func(tx *bbolt.Tx) error {
		changes, _, err := readDeferred(tx, func(in index, _ []byte) bool { return in == expiryIndex })
		if err != nil {
			return err
		}
		looked, size := 0, int64(0)
		for entry := range indexEntries(tx, changes, expiryIndex, nil, s.next) {
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
			if !s.at.Before(begin.Add(expirySlot * time.Microsecond)) { // all records of the slot have expired
				keys = append(keys, key)
				continue
			}
			found, err := fetchHead(tx, key)
			size += found.ContentBytes // the read verifies the content
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

// counts reports whether the record under a key is in the group of the search.
func (s *search) counts(key storage.Key) bool {
	group, ok := key.Group()
	return s.group == "" || ok && group == s.group
}

// entries is an iterator over pairs. Each pair consists of an index entry and the key of the
// entry's record. For each pair, the caller must check whether the record matches.
type entries = iter.Seq2[[]byte, storage.Key]

// The function "under" iterates over the record keys that have a prefix. If the argument "from" is
// not nil, the iteration begins at the key "from".
func under(records *bbolt.Bucket, prefix, from []byte) entries {
	return func(yield func([]byte, storage.Key) bool) {
		if from == nil {
			from = prefix
		}
		c := records.Cursor()
		for k, _ := c.Seek(from); k != nil && bytes.HasPrefix(k, prefix); k, _ = c.Next() {
			if !yield(k, storage.Key(k)) {
				return
			}
		}
	}
}

// taggedEntries returns the entries of the tag index that have a prefix. If the argument "from" is
// not nil, the iteration begins at the entry "from". The iteration stops at a malformed entry. The
// argument "changes" contains the deferred changes.
func taggedEntries(tx *bbolt.Tx, changes indexChanges, prefix, from []byte) entries {
	return func(yield func([]byte, storage.Key) bool) {
		for entry := range indexEntries(tx, changes, tagIndex, prefix, from) {
			if _, _, k, ok := tagOf(entry); !ok || !yield(entry, k) {
				return
			}
		}
	}
}

// listed returns an iterator over pairs of a nil entry and a key. The entry in each pair is nil
// because the keys are not from an index.
func listed(keys []storage.Key) entries {
	return func(yield func([]byte, storage.Key) bool) {
		for _, k := range keys {
			if !yield(nil, k) {
				return
			}
		}
	}
}

// removal is the state of a removal. A removal uses several commits of bounded size.
type removal struct {
	b      *Backend
	sender sender // the sender of the commits of this removal
	limit  int    // maximum number of records to remove
	match  func(storage.Record) bool
	// removed contains the records that were removed so far.
	removed    []storage.Head
	unreadable error // the error from the last record that could not be read
}

// indexed makes passes over the candidates of an index. Each pass removes the matching records. The
// method ends after a pass that removes no records or that needs only one commit. During a pass,
// other callers can write records at positions that the pass has already visited. The next pass
// finds the records that a pass with several commits has missed.
func (r *removal) indexed(ctx context.Context, candidates func(t *transaction, from []byte) (entries, error)) error {
	for {
		var from []byte
		chunks, before := 0, len(r.removed)
		r.unreadable = nil
		for more := true; more; {
			c, err := r.chunk(ctx, func(t *transaction) (entries, error) { return candidates(t, from) })
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

// keys checks each of the given records once, and removes the matching records.
func (r *removal) keys(ctx context.Context, keys []storage.Key) error {
	r.sender = senderOf(keys) // the queue predicts sizes by sender
	for len(keys) > 0 && len(r.removed) < r.limit {
		c, err := r.chunk(ctx, func(*transaction) (entries, error) { return listed(keys), nil })
		if err != nil {
			return err
		}
		keys = keys[c.looked:]
	}
	return nil
}

// chunk is the state of one commit of a removal.
type chunk struct {
	doomed     []storage.Head
	bytes      int64  // the total size of the contents that were checked
	looked     int    // candidates
	next       []byte // the entry at which to continue; nil after the last entry
	unreadable error  // the error from the last record that could not be read
	began      time.Time
}

// full reports whether a commit should check no more candidates. The argument "limit" is the
// maximum number of records to remove. A commit also has limits for the number of candidates, for
// the total size of their contents, and for the execution time. A commit always checks at least one
// candidate.
func (c *chunk) full(limit int, timeout time.Duration) bool {
	return c.looked >= maxRemoved || len(c.doomed) >= limit || c.bytes >= maxRemovedBytes ||
		c.looked > 0 && time.Since(c.began) > timeout
}

// chunk removes matching candidates until the commit reaches a limit. The method checks the record
// of each index entry, because an index entry does not prove that the record matches. The method
// does not read contents into memory.
func (r *removal) chunk(ctx context.Context, candidates func(*transaction) (entries, error)) (chunk, error) {
	var c chunk
	err := r.b.submit(ctx, r.sender, func(t *transaction) error {
		c = chunk{began: time.Now()}
		found, err := candidates(t)
		if err != nil {
			return err
		}
		for entry, k := range found {
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
		t.settle = t.settle || len(changes) > 0 // the deferred changes must not contain keys of removed records
		return t.apply(changes, storage.Budget{})
	})
	if err != nil {
		return chunk{}, err
	}
	r.removed = append(r.removed, c.doomed...)
	r.unreadable = cmp.Or(c.unreadable, r.unreadable)
	return c, nil
}

// look adds the record under a key to the list of records to remove if the record matches.
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
