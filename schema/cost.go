package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The limits on the cost of a schema. If a schema is within the limits, validation takes time
// linear in the size of the document. Without the limits, a schema that refers to itself twice
// would double the work with every level.
const (
	maxVisits    = 10_000    // the number of schemas that one value is checked against
	maxNesting   = 256       // the length of a chain of schemas at the same value
	maxCostSteps = 4_000_000 // the number of steps of the analysis
)

// costAnalysis computes how often a schema can check one value of any document. costAnalysis
// follows all paths into a document simultaneously. The number of checks at a value depends only on
// how often each schema is applied to the value, so equal counts are analyzed only once.
type costAnalysis struct {
	steps int
	seen  map[string]bool
	queue []visitCounts
}

// visitCounts contains the number of times that each schema is applied to one value, and the depth
// of the value.
type visitCounts struct {
	times tally
	depth int
}

// checkCost rejects a schema if its worst-case cost is not bounded, or if the analysis takes too
// long.
func checkCost(root *node, all []*node, depth int) *Error {
	if err := rankNodes(all); err != nil {
		return err
	}
	b := &costAnalysis{seen: map[string]bool{}}
	b.add(tally{root: 1}, 0)
	for len(b.queue) > 0 {
		next := b.queue[0]
		b.queue = b.queue[1:]
		for _, kind := range []kinds{scalar, array, object} {
			if err := b.follow(next, kind, depth, picks{map[*discriminator]int{}, 1}); err != nil {
				return err
			}
		}
		if b.steps > maxCostSteps {
			return &Error{
				Message: "the schema is too complex, because the number of checks per value has no upper bound",
				Hint:    "reduce the number of schemas that apply to the same value",
			}
		}
	}
	return nil
}

// picks contains the chosen branch of each discriminator of an object. The field "ways" is the
// number of possible combinations of branches.
type picks struct {
	branch map[*discriminator]int
	ways   int
}

// maxWays is the maximum number of branch combinations that are analyzed separately at one value.
// If there are more combinations, all branches of a discriminator are counted together.
const maxWays = 1000

// follow analyzes the counts for a value of one kind. follow analyzes each branch of a
// discriminator separately.
func (b *costAnalysis) follow(l visitCounts, kind kinds, depth int, taken picks) *Error {
	reached, total, open := b.spread(l.times, kind, taken)
	if open != nil {
		next := picks{branch: taken.branch, ways: taken.ways * len(open.branches)}
		defer delete(taken.branch, open)
		for i := range open.branches {
			taken.branch[open] = i
			if err := b.follow(l, kind, depth, next); err != nil || b.steps > maxCostSteps {
				return err
			}
		}
		return nil
	}
	if total > maxVisits {
		return tooMany(reached, l.depth)
	}
	if l.depth < depth {
		b.addChildren(reached, kind, l.depth+1)
	}
	return nil
}

func tooMany(reached tally, depth int) *Error {
	maximum := slices.MaxFunc(nodesOf(reached), func(a, b *node) int {
		return cmp.Or(cmp.Compare(reached[a], reached[b]), cmp.Compare(b.id, a.id))
	})
	where := "a value"
	if depth > 0 {
		where = fmt.Sprintf("a value %d levels deep", depth)
	}
	return &Error{
		Pointer: maximum.pointer,
		Message: fmt.Sprintf("the schema is too expensive: the schema checks %s more than %d times; this subschema causes %d of the checks", where, maxVisits, reached[maximum]),
		Hint:    "apply each schema to a value only once; if several branches refer to the same schema, distinguish the branches by a required property with a const",
	}
}

// rankNodes assigns each node a rank above the ranks of the schemas that it applies to the same
// value. rankNodes rejects a schema that applies itself to the same value, which would never end.
func rankNodes(all []*node) *Error {
	const under = -1
	ranks := make(map[*node]int, len(all))
	var visit func(n *node) *Error
	visit = func(n *node) *Error {
		switch rank, ok := ranks[n]; {
		case ok && rank == under:
			return &Error{Pointer: n.pointer, Message: endless}
		case ok:
			return nil
		}
		ranks[n] = under
		for _, sub := range n.within {
			if err := visit(sub); err != nil {
				return err
			}
			n.rank = max(n.rank, sub.rank+1)
		}
		ranks[n] = n.rank
		if n.rank > maxNesting {
			return &Error{Pointer: n.pointer, Message: fmt.Sprintf("subschemas of the same value are nested more than %d levels deep", maxNesting)}
		}
		return nil
	}
	for _, n := range all {
		if err := visit(n); err != nil {
			return err
		}
	}
	return nil
}

func (b *costAnalysis) add(times tally, depth int) {
	if len(times) == 0 {
		return
	}
	var key strings.Builder
	for _, n := range nodesOf(times) {
		key.WriteString(strconv.Itoa(n.id) + ":" + strconv.Itoa(times[n]) + " ")
	}
	b.steps += len(times)
	if b.seen[key.String()] {
		return // already analyzed at the same or a smaller depth
	}
	b.seen[key.String()] = true
	b.queue = append(b.queue, visitCounts{times: times, depth: depth})
}

// spread adds the counts of all schemas that apply to the same value, if the value has the given
// kind and takes the given branches. spread returns the counts and their total. The total is capped
// to avoid overflow. If no branch has been taken for a discriminator, spread returns only that
// discriminator.
func (b *costAnalysis) spread(times tally, kind kinds, taken picks) (reached tally, total int, open *discriminator) {
	reached = make(tally, len(times))
	var queue rankQueue
	push := func(n *node, count int) {
		if reached[n] == 0 {
			queue.push(n)
		}
		reached.add(n, count)
	}
	for n, count := range times {
		push(n, count)
	}
	for n := queue.pop(); n != nil; n = queue.pop() {
		b.steps++
		total = min(total+reached[n], 2*maxVisits)
		if n.types != 0 && n.types&kind == 0 {
			continue // a wrong type ends the check of the value
		}
		skipped, open := b.skipped(n, kind, taken)
		if open != nil {
			return nil, 0, open
		}
		for _, sub := range n.within {
			b.steps++
			if skipped[sub] > 0 {
				skipped[sub]--
				continue
			}
			push(sub, reached[n])
		}
	}
	return reached, total, nil
}

// skipped returns the branches of n that do not apply to an object, with the number of times that
// each branch occurs. If no branch has been taken for a discriminator, skipped returns that
// discriminator.
func (b *costAnalysis) skipped(n *node, kind kinds, taken picks) (tally, *discriminator) {
	skipped := tally{}
	if kind != object {
		return skipped, nil
	}
	for _, s := range []*discriminator{n.applicators.anyOfDiscriminator, n.applicators.oneOfDiscriminator} {
		if s == nil {
			continue
		}
		pick, ok := taken.branch[s]
		if !ok && taken.ways*len(s.branches) <= maxWays {
			return nil, s
		}
		for i, sub := range s.branches {
			if ok && i != pick {
				skipped.add(sub, 1)
			}
		}
	}
	return skipped, nil
}

// rankQueue is a queue that returns nodes in order of descending rank. A node is therefore returned
// after all nodes that apply it to the same value.
type rankQueue struct{ byRank [][]*node }

func (q *rankQueue) push(n *node) {
	for len(q.byRank) <= n.rank {
		q.byRank = append(q.byRank, nil)
	}
	q.byRank[n.rank] = append(q.byRank[n.rank], n)
}

func (q *rankQueue) pop() *node {
	for len(q.byRank) > 0 {
		last := len(q.byRank) - 1
		if nodes := q.byRank[last]; len(nodes) > 0 {
			q.byRank[last] = nodes[:len(nodes)-1]
			return nodes[len(nodes)-1]
		}
		q.byRank = q.byRank[:last]
	}
	return nil
}

func nodesOf(times tally) []*node {
	nodes := make([]*node, 0, len(times))
	for n := range times {
		nodes = append(nodes, n)
	}
	slices.SortFunc(nodes, func(a, b *node) int { return cmp.Compare(a.id, b.id) })
	return nodes
}
