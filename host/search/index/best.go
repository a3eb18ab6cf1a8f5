package index

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/toolrun/toolrun/host/storage"
)

// proposal is an entry that can become a hit. The scores of a proposal are integers: each score is
// a number of steps.
type proposal struct {
	key                 storage.Key
	revision            int64
	own                 int
	score, vector, text int32
}

// order compares two proposals. In the order, a better proposal precedes a worse proposal.
// Committed entries have unique keys.
func (p *proposal) order(other *proposal) int {
	return cmp.Or(cmp.Compare(other.score, p.score), cmp.Compare(p.key, other.key), cmp.Compare(other.own, p.own))
}

// best is a heap of the best proposals. The root of the heap is the worst proposal.
type best struct {
	limit     int
	minScore  int32
	proposals []proposal
}

var _ heap.Interface = (*best)(nil)

// newBest returns an empty heap for the hits of a query.
func newBest(q *Query) best {
	minScore := int32(1)
	for float64(minScore)/scale < q.Threshold {
		minScore++
	}
	return best{limit: q.Limit, minScore: minScore}
}

func (b *best) Len() int           { return len(b.proposals) }
func (b *best) Less(i, j int) bool { return b.proposals[i].order(&b.proposals[j]) > 0 }
func (b *best) Swap(i, j int)      { b.proposals[i], b.proposals[j] = b.proposals[j], b.proposals[i] }
func (b *best) Push(x any)         { b.proposals = append(b.proposals, x.(proposal)) }
func (b *best) Pop() any           { panic("not used: proposals are only replaced") }

// add adds a proposal if the proposal is a hit and belongs to the best proposals.
func (b *best) add(p proposal) {
	switch {
	case p.score < b.minScore:
	case len(b.proposals) < b.limit:
		heap.Push(b, p)
	case p.order(&b.proposals[0]) < 0:
		b.proposals[0] = p
		heap.Fix(b, 0)
	}
}

// floor returns a lower bound of unrounded scores. The method "add" ignores every proposal with a
// score below this bound.
func (b *best) floor() float64 {
	score := b.minScore
	if len(b.proposals) == b.limit {
		score = max(score, b.proposals[0].score)
	}
	const slack = 1e-9 // for the rounding errors of float64
	return (float64(score)-0.5)/scale - slack
}

// merge adds the proposals of another heap.
func (b *best) merge(other *best) {
	for _, p := range other.proposals {
		b.add(p)
	}
}

// hits returns the hits, with the best hit first.
func (b *best) hits() []Hit {
	slices.SortFunc(b.proposals, func(x, y proposal) int { return x.order(&y) })
	hits := make([]Hit, len(b.proposals))
	for i, p := range b.proposals {
		hits[i] = Hit{
			Key: p.key, Revision: p.revision, Own: p.own,
			Score: float64(p.score) / scale, Vector: float64(p.vector) / scale, Text: float64(p.text) / scale,
		}
	}
	return hits
}
