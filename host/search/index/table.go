package index

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/toolrun/toolrun/host/storage"
)

// table is the index of a partition. table has a row for each version of an entry. Rows are only
// appended, so that a search can use a snapshot while entries are added. If an entry is replaced or
// removed, its row is marked as dead. The table is compacted if it has many dead rows.
type table struct {
	vectors vectors
	words   wordTable
	columns columns

	keys      []storage.Key
	revisions []int64
	expires   []int64 // in microseconds; never if the entry does not expire
	lengths   []uint32
	// rows maps the keys of entries to their rows.
	rows map[storage.Key]uint32
	// dead contains the dead rows. A snapshot can share this set of rows, so the table copies the
	// set before the table changes the set.
	dead   bitset
	shared bool
	// totalWords is the total number of words of all rows that are not dead. earliest is the
	// earliest expiry of a row.
	totalWords int
	earliest   int64
	// otherLengths is the number of rows whose entry has a vector with another number of elements
	// than the table.
	otherLengths int
	// bytes is the approximate size of the table in memory.
	bytes int64
}

const never = math.MaxInt64

// The constant removed marks removed rows in the slice that a compaction uses to map old row
// numbers to new row numbers.
const removed = math.MaxUint32

// rowBytes is the approximate size of a row without its key, vector, words and metadata.
const rowBytes = 16 + 8 + 8 + 4 + 16 + mapBytes

// newTable returns an empty table for vectors of a dimension. If the dimension is 0, the first
// vector determines the dimension.
func newTable(dimension int) *table {
	return &table{vectors: vectors{dimension: dimension}, words: wordTable{terms: map[string]uint32{}}, columns: columns{}, rows: map[storage.Key]uint32{}, earliest: never}
}

func (t *table) contains(e *Entry) bool {
	row, known := t.rows[e.Key]
	return known && t.revisions[row] == e.Revision
}

// put adds an entry, or replaces the entry with the same key. The argument "analysis" contains the
// words of the text of the entry.
func (t *table) put(e *Entry, a analysis) {
	t.remove(e.Key)
	row, expires, words := uint32(len(t.keys)), microseconds(e.Expires), len(a.known)+len(a.fresh)
	t.keys = append(t.keys, e.Key)
	t.revisions = append(t.revisions, e.Revision)
	t.expires = append(t.expires, expires)
	t.lengths = append(t.lengths, uint32(words))
	t.rows[e.Key] = row
	t.totalWords += words
	t.earliest = min(t.earliest, expires)
	t.bytes += rowBytes + int64(len(e.Key)) + t.words.append(row, a) + t.columns.append(row, e.Metadata) + t.vectors.append(e.Vector)
	if len(e.Vector) > 0 && len(e.Vector) != t.vectors.dimension {
		t.otherLengths++
	}
}

// microseconds converts a time of expiry to microseconds, rounded up.
func microseconds(at time.Time) int64 {
	if at.IsZero() {
		return never
	}
	return at.Add(time.Microsecond - 1).UnixMicro()
}

// remove removes the entry with the given key. If the table does not contain the entry, remove does
// nothing.
func (t *table) remove(k storage.Key) {
	row, known := t.rows[k]
	if !known {
		return
	}
	delete(t.rows, k)
	if size := (len(t.keys) + wordBits - 1) / wordBits; t.shared || len(t.dead) < size {
		grown := make(bitset, size)
		copy(grown, t.dead)
		t.dead, t.shared = grown, false
	}
	t.dead.add(row)
	t.totalWords -= int(t.lengths[row])
}

// differs returns true if the vectors of the table do not have the given dimension, and entries
// with the given dimension may exist.
func (t *table) differs(dimension int) bool {
	return dimension > 0 && t.vectors.dimension > 0 && dimension != t.vectors.dimension && t.otherLengths > 0
}

// wasteful reports whether at least a third of the rows is dead.
func (t *table) wasteful() bool {
	dead := len(t.keys) - len(t.rows)
	return dead >= chunkRows && dead*3 > len(t.keys)
}

// compacted returns a table with the same entries and without dead rows.
func (t *table) compacted() *table {
	made := newTable(t.vectors.dimension)
	made.rows = make(map[storage.Key]uint32, len(t.rows))
	made.totalWords, made.otherLengths = t.totalWords, t.otherLengths
	renumbered := make([]uint32, len(t.keys))
	for row, k := range t.keys {
		if t.dead.contains(uint32(row)) {
			renumbered[row] = removed
			continue
		}
		to := uint32(len(made.keys))
		renumbered[row] = to
		made.keys = append(made.keys, k)
		made.revisions = append(made.revisions, t.revisions[row])
		made.expires = append(made.expires, t.expires[row])
		made.lengths = append(made.lengths, t.lengths[row])
		made.rows[k] = to
		made.earliest = min(made.earliest, t.expires[row])
		made.bytes += rowBytes + int64(len(k))
		var vector []float32
		if t.vectors.dimension > 0 {
			vector = t.vectors.exact(uint32(row))
		}
		made.bytes += made.vectors.append(vector)
	}
	made.bytes += t.words.compact(&made.words, renumbered) + t.columns.compact(made.columns, renumbered)
	return made
}

// snapshot contains the state of a table that a query needs. A snapshot does not change, and is
// safe for concurrent use.
type snapshot struct {
	vectors   vectors
	keys      []storage.Key
	revisions []int64
	expires   []int64
	lengths   []uint32
	dead      bitset
	// words contains the postings of each word of the query.
	words      [][]posting
	totalWords int
	earliest   int64
	filter     []selection
	// hidden contains the rows of Query.Hidden.
	hidden []uint32
}

// snapshot returns the state of the table for a query. The argument "terms" contains the words of
// the query.
func (t *table) snapshot(q *Query, terms []string) *snapshot {
	t.shared = true
	s := &snapshot{
		vectors: t.vectors, keys: t.keys, revisions: t.revisions, expires: t.expires, lengths: t.lengths,
		dead: t.dead, totalWords: t.totalWords, earliest: t.earliest, words: make([][]posting, len(terms)),
	}
	s.vectors.chunks = slices.Clip(s.vectors.chunks)
	for i, stem := range terms {
		s.words[i] = t.words.list(stem)
	}
	for _, c := range q.Filter.conditions {
		s.filter = append(s.filter, t.columns.selection(c))
	}
	hidden := map[uint32]bool{}
	for _, k := range q.Hidden {
		if row, known := t.rows[k]; known {
			hidden[row] = true
		}
	}
	s.hidden = slices.Collect(maps.Keys(hidden))
	return s
}
