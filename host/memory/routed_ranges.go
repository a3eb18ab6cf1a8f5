package memory

import (
	"context"
	"errors"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory/kind"
	"github.com/toolrun/toolrun/host/storage"
)

// itemRange is a range of items. The field "path" selects the items of the range. The range
// contains the item with the name "path", the items below this path, or both. All items are below
// the path "".
type itemRange struct {
	path         string
	exact, below bool
}

// itemRanges returns the ranges of items that an Authority can use with a given verb. The ranges
// contain no items except the item with the name "prefix" and the items below this path. The
// returned ranges do not overlap.
func (a Authority) itemRanges(store, prefix string, verb abi.Verb) []itemRange {
	whole := itemRange{prefix, prefix != "", true}
	if a.unrestricted {
		return []itemRange{whole}
	}
	var ranges []itemRange
	for _, g := range a.grants {
		if g.Store != store || !g.Allows(verb) || a.readOnly && verb != abi.Read {
			continue
		}
		base, pattern := strings.CutSuffix(g.Item, ".*")
		switch {
		case g.Item == "" || pattern && isBelow(prefix, base):
			return []itemRange{whole}
		case pattern && (prefix == "" || base == prefix || isBelow(base, prefix)):
			ranges = addRange(ranges, itemRange{base, false, true})
		case !pattern && (prefix == "" || base == prefix || isBelow(base, prefix)):
			ranges = addRange(ranges, itemRange{base, true, false})
		}
	}
	return ranges
}

// addRange adds a range to a list of ranges. The ranges in the result do not overlap.
func addRange(ranges []itemRange, added itemRange) []itemRange {
	kept := ranges[:0]
	for _, r := range ranges {
		if r.contains(added) {
			return ranges
		}
		if !added.contains(r) {
			kept = append(kept, r)
		}
	}
	return append(kept, added)
}

// contains reports whether the range contains all items of another range.
func (r itemRange) contains(other itemRange) bool {
	return r.below && isBelow(other.path, r.path) || r.path == other.path && r.exact == other.exact && r.below == other.below
}

// isBelow reports whether the first path begins with the second path, followed by a dot.
func isBelow(path, above string) bool {
	return above == "" && path != "" || strings.HasPrefix(path, above+".")
}

// These constants limit the number of records in a chunk. A cursor chooses the number of records so
// that the contents of a chunk have a total size of about chunkBytes.
const (
	minChunk   = 8
	maxChunk   = 256
	chunkBytes = 1 << 20
)

// rangeCursor reads the records of one scope in one range, in chunks.
type rangeCursor struct {
	part   *storePartition
	within itemRange
	prefix storage.Key
	after  storage.Key
	chunk  int
	next   []storage.Record
	end    bool
}

// fill reads chunks until the cursor has a record or has reached the end of the range. If the
// cursor still has records, fill reads nothing.
func (c *rangeCursor) fill(ctx context.Context, p routedPartition) error {
	for len(c.next) == 0 && !c.end {
		found, err := c.read(ctx)
		if err != nil {
			return err
		}
		bytes := 0
		for _, r := range found {
			c.after = r.Key
			bytes += len(r.Content)
			if item := kind.Item(r); (item != c.within.path || c.within.exact) && p.store.scopeOfItem(item) == c.part.scope {
				r.Expires = p.store.shownEnd(r)
				c.next = append(c.next, r)
			}
		}
		if bytes > 0 {
			c.chunk = min(max(chunkBytes*len(found)/bytes, minChunk), maxChunk)
		}
	}
	return nil
}

// read returns the next chunk. If the chunk is the last chunk, read sets the field "end". If the
// range consists of a single item, read does not read the items below this item.
func (c *rangeCursor) read(ctx context.Context) ([]storage.Record, error) {
	if c.within.below {
		found, err := c.part.view.tx.Scan(ctx, c.prefix, c.after, c.chunk)
		c.end = len(found) < c.chunk
		return found, err
	}
	c.end = true
	if c.prefix <= c.after {
		return nil, nil
	}
	r, err := c.part.view.tx.Get(ctx, c.prefix)
	if err != nil || !r.Exists() {
		return nil, err
	}
	return []storage.Record{r}, nil
}

// Each implements kind.ScopedPartition. Each visits the records of all scopes of the caller, sorted
// by their items.
func (p routedPartition) Each(ctx context.Context, prefix, after string, visit func(storage.Record) bool) error {
	for _, path := range []string{prefix, after} {
		if path == "" {
			continue
		}
		if err := checkPath(path); err != nil {
			return err
		}
	}
	cursors, err := p.cursors(prefix, after)
	if err != nil {
		return err
	}
	for {
		var first *rangeCursor
		for _, c := range cursors {
			if err := c.fill(ctx, p); err != nil {
				return err
			}
			if len(c.next) > 0 && (first == nil || itemKey(c.next[0]) < itemKey(first.next[0])) {
				first = c
			}
		}
		if first == nil || !visit(first.next[0]) {
			return nil
		}
		first.next = first.next[1:]
	}
}

// itemKey returns the part of a record's key by which records of different scopes are sorted.
func itemKey(r storage.Record) storage.Key { return storage.MakeKey(pathParts(kind.Item(r))...) }

// cursors returns the cursors for the records that Each visits.
func (p routedPartition) cursors(prefix, after string) ([]*rangeCursor, error) {
	var cursors []*rangeCursor
	for _, scope := range routedScopes {
		part, err := p.within(scope, "an item")
		if errors.Is(err, abi.NoUser) || errors.Is(err, abi.NoWorkflow) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, r := range p.view.authority.itemRanges(p.store.Name, prefix, p.verb) {
			if !r.below && p.store.scopeOfItem(r.path) != scope {
				continue
			}
			cursors = append(cursors, newRangeCursor(part, r, after))
		}
	}
	return cursors, nil
}

// newRangeCursor returns a cursor for a part of a range. The part begins after the given item.
func newRangeCursor(part *storePartition, r itemRange, after string) *rangeCursor {
	c := &rangeCursor{part: part, within: r, prefix: part.key, chunk: minChunk}
	if r.path != "" {
		c.prefix = part.recordKey(r.path)
	}
	if after != "" {
		c.after = part.recordKey(after)
	}
	return c
}
