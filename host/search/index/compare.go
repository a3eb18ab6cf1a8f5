package index

import (
	"context"
	"runtime"
	"slices"
	"sync"

	"github.com/toolrun/toolrun/internal/int8vec"
	"github.com/toolrun/toolrun/internal/yield"
)

// The limits on the work between two checks, and on the use of processors.
const (
	// chunksPerCheck is the number of chunks after which a comparison checks its context. The
	// comparison of chunksPerCheck chunks takes a fraction of a millisecond.
	chunksPerCheck = 16
	// chunksPerYield is the number of chunks after which a comparison yields the processor.
	chunksPerYield = 256
	// minParallel is the minimum number of selected rows for which two goroutines share a
	// comparison.
	minParallel = 1 << 14
)

// comparison is the comparison of a query with the rows of a snapshot.
type comparison struct {
	*snapshot
	query *Query
	// selected contains the rows to compare.
	selected bitset
	// text contains the text score of each row. text is nil if the mode does not use text scores.
	text []float64
	// rounded is the rounded vector of the query. If vectors are not compared, rounded is nil.
	rounded *int8vec.Query
}

// count adds the entries of the snapshot to the statistics, and returns the live rows. Live rows
// are neither dead nor hidden nor expired.
func (s *snapshot) count(r *ranking) bitset {
	alive, words := s.alive(r.query)
	n := alive.count()
	r.entries += n
	r.words += words
	for i, list := range s.words {
		if n == len(s.keys) {
			r.containing[i] += len(list)
			continue
		}
		for _, p := range list {
			if alive.contains(p.row()) {
				r.containing[i]++
			}
		}
	}
	return alive
}

// alive returns the rows that are neither dead nor hidden nor expired, and the number of words in
// these rows.
func (s *snapshot) alive(q *Query) (alive bitset, words int) {
	alive, words = fullBitset(len(s.keys)), s.totalWords
	for i, word := range s.dead {
		alive[i] &^= word
	}
	remove := func(row uint32) {
		if alive.contains(row) {
			alive.remove(row)
			words -= int(s.lengths[row])
		}
	}
	for _, row := range s.hidden {
		remove(row)
	}
	if now := q.Now.UnixMicro(); s.earliest <= now {
		for row, expires := range s.expires {
			if expires <= now {
				remove(uint32(row))
			}
		}
	}
	return alive, words
}

// compare adds the rows of the snapshot to a ranking. The statistics of the ranking must be
// complete. The argument "alive" is the set of rows that count returned.
func (s *snapshot) compare(ctx context.Context, r *ranking, alive bitset) error {
	c := comparison{snapshot: s, query: r.query, selected: alive}
	for i := range s.filter {
		c.selected.intersect(s.filter[i].rows(len(s.keys)))
	}
	if c.query.Mode != Vector {
		c.text = newScores(len(s.keys))
		defer scores.Put(&c.text)
		if err := c.scoreTexts(ctx, r.weights()); err != nil {
			return err
		}
	}
	if c.query.Mode != Text && s.vectors.dimension > 0 && len(c.query.Vector) == s.vectors.dimension {
		c.rounded = int8vec.NewQuery(c.query.Vector)
	}
	return c.compare(ctx, &r.best)
}

// scores contains slices for text scores. The slices are reused, because allocating large slices is
// expensive.
var scores sync.Pool

// newScores returns n zeros.
func newScores(n int) []float64 {
	if reused, ok := scores.Get().(*[]float64); ok && cap(*reused) >= n {
		clear((*reused)[:n])
		return (*reused)[:n]
	}
	return make([]float64, n+n/8)[:n]
}

// scoreTexts computes the text scores of the selected rows.
func (c *comparison) scoreTexts(ctx context.Context, w weights) error {
	for term, list := range c.words {
		for part := range slices.Chunk(list, minParallel) {
			if err := ctx.Err(); err != nil {
				return err
			}
			for _, p := range part {
				if row := p.row(); c.selected.contains(row) {
					c.text[row] += w.occurrence(term, p.occurrences(), int(c.lengths[row]))
				}
			}
		}
	}
	return nil
}

// compare adds the selected rows to the best proposals. If the number of rows is large, two
// goroutines share the work.
func (c *comparison) compare(ctx context.Context, to *best) error {
	n := len(c.keys)
	if c.selected.count() < minParallel || runtime.GOMAXPROCS(0) == 1 {
		return c.compareRows(ctx, 0, n, to)
	}
	middle := n / 2 / chunkRows * chunkRows
	second := newBest(c.query)
	done := make(chan error, 1)
	go func() { done <- c.compareRows(ctx, middle, n, &second) }()
	err := c.compareRows(ctx, 0, middle, to)
	if secondErr := <-done; err == nil {
		err = secondErr
	}
	to.merge(&second)
	return err
}

// compareRows adds the selected rows between the rows "start" and "end" to the best proposals. The
// row "start" must be the first row of a chunk.
func (c *comparison) compareRows(ctx context.Context, start, end int, to *best) error {
	for chunk := start / chunkRows; chunk*chunkRows < end; chunk++ {
		switch {
		case chunk%chunksPerYield == chunksPerYield-1:
			yield.Now()
		case chunk%chunksPerCheck == chunksPerCheck-1:
			runtime.Gosched()
		}
		if chunk%chunksPerCheck == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		first, last := uint32(chunk*chunkRows), uint32(min((chunk+1)*chunkRows, end))
		if c.rounded == nil {
			c.compareTexts(first, last, to)
			continue
		}
		c.compareVectors(c.vectors.chunks[chunk], first, last, to)
	}
	return nil
}

// compareTexts adds the selected rows between the rows "first" and "last" to the best proposals.
// compareTexts compares only text scores.
func (c *comparison) compareTexts(first, last uint32, to *best) {
	if c.text == nil {
		return
	}
	floor := to.floor()
	for start, end := range c.selected.runs(first, last) {
		for row := start; row < end; row++ {
			if c.query.mean(0, c.text[row]) >= floor {
				c.add(row, 0, to)
				floor = to.floor()
			}
		}
	}
}

// compareVectors adds the selected rows between the rows "first" and "last", which are in the same
// chunk, to the best proposals. If the rounded vector of a row shows that the row cannot belong to
// the best proposals, compareVectors does not compute the exact vector score of the row.
func (c *comparison) compareVectors(chunk *chunk, first, last uint32, to *best) {
	var products [chunkRows]int32
	padded := c.vectors.padded()
	floor, text := to.floor(), 0.0
	for start, end := range c.selected.runs(first, last) {
		c.rounded.Products(products[:end-start], chunk.bytes[int(start-first)*padded:])
		for row := start; row < end; row++ {
			if c.text != nil {
				text = c.text[row]
			}
			approximate, maxError := c.rounded.Bounds(products[row-start], chunk.rounded[row-first])
			if !(c.query.mean(approximate+maxError, text) < floor) {
				c.add(row, dot(c.query.Vector, c.vectors.exact(row)), to)
				floor = to.floor()
			}
		}
	}
}

// add adds a row to the best proposals. The argument "vector" is the vector score of the row.
func (c *comparison) add(row uint32, vector float64, to *best) {
	text := 0.0
	if c.text != nil {
		text = c.text[row]
	}
	to.add(proposal{
		key: c.keys[row], revision: c.revisions[row], own: -1,
		score: rounded(c.query.mean(vector, text)), vector: rounded(vector), text: rounded(textScore(text)),
	})
}
