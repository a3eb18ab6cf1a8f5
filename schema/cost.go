package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Limits on the cost of a schema. A schema within these limits checks a document in time linear in
// the size of the document. Without them, a schema that refers to itself twice would double its work
// with every level.
const (
	maxVisits    = 10_000    // schemas that one value may be checked against
	maxNesting   = 256       // schemas that apply to each other at the same value
	maxCostSteps = 4_000_000 // steps of the analysis
)

// costAnalysis is a search for the value that a schema checks most often, over all documents. It
// follows all paths into a document at the same time. The checks at a value depend only on how often
// each schema is applied to it, so equal counts are analysed once.
type costAnalysis struct {
	steps int
	seen  map[string]bool
	queue []visitCounts
}

// visitCounts counts how often each schema is applied to a value, at the depth of that value.
type visitCounts struct {
	times tally
	depth int
}

// checkCost rejects a schema whose cost on the worst document is not bounded, or cannot be
// determined in time.
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
				Message: "the schema is too complex: how often it checks a value cannot be bounded in reasonable time",
				Hint:    "let fewer schemas apply to the same value",
			}
		}
	}
	return nil
}

// picks is one combination of branches that an object can take at discriminators, and the number of
// combinations that it is one of.
type picks struct {
	branch map[*discriminator]int
	ways   int
}

// maxWays bounds the combinations that are analysed separately at one value. Beyond it, all
// branches of a discriminator count.
const maxWays = 1000

// follow analyses the counts for a value of one kind, separately for each branch that the value can take.
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
	where := "one value"
	if depth > 0 {
		where = fmt.Sprintf("one value %d levels deep", depth)
	}
	return &Error{
		Pointer: maximum.pointer,
		Message: fmt.Sprintf("the cost of the schema is not bounded: it checks %s over %d times, %d of them by this part", where, maxVisits, reached[maximum]),
		Hint:    "let each schema apply to a value once; if a schema refers to itself in several branches, distinguish them by a required property with a const",
	}
}

// rankNodes gives each node a rank above the ranks of all schemas within it. It rejects a schema
// that applies to a value because it applies to the same value.
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
			return &Error{Pointer: n.pointer, Message: fmt.Sprintf("more than %d schemas apply to each other here", maxNesting)}
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
		return // it was reached at the same or a lower depth, with at least as many levels below it
	}
	b.seen[key.String()] = true
	b.queue = append(b.queue, visitCounts{times: times, depth: depth})
}

// spread adds the schemas that are applied to the same value, if it is of that kind and takes those
// branches. It returns their total, which is capped to avoid overflow, or a discriminator whose branch
// is still open.
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
			continue // a wrong type ends the check
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

// skipped returns how often each schema within n is a branch that an object does not take, or a
// discriminator whose branch is still open.
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

// rankQueue returns nodes from the highest rank down, so that a node comes after all nodes that
// lead to it.
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
