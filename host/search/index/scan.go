package index

import (
	"cmp"
	"context"
	"slices"

	"github.com/toolrun/toolrun/host/search"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/internal/yield"
)

// ranking collects the entries that can be hits of a query. The method compare of snapshot adds the
// entries of an index. All other entries are added one by one.
type ranking struct {
	query   *Query
	terms   []string
	matcher *search.Matcher // nil in the mode Vector
	statistics
	best best
	// pending contains the entries that contain words of the query. The scores of these entries can
	// be computed only when the statistics are complete.
	pending []pending
}

// pending is an entry that contains words of the query.
type pending struct {
	proposal
	vector  float64
	matches []search.Match // one element for each term, in the order of the terms
	length  int
}

// newRanking returns a ranking without entries.
func newRanking(q *Query, words *search.Query) *ranking {
	r := &ranking{query: q, best: newBest(q)}
	if words != nil {
		r.matcher, r.terms = words.Matcher(), words.Terms()
		r.containing = make([]int, len(r.terms))
	}
	return r
}

// add compares an entry. The argument "own" is the index of the entry in Query.Own, or -1.
func (r *ranking) add(e *Entry, own int) {
	if e.expired(r.query.Now) {
		return
	}
	var matches []search.Match
	length := 0
	if r.matcher != nil {
		matches, length = r.matcher.Match(e.Text)
		for _, m := range matches {
			r.containing[m.Term]++
		}
	}
	r.entries, r.words = r.entries+1, r.words+length
	if !r.query.Filter.Matches(e.Metadata) {
		return
	}
	vector := 0.0
	if r.query.Mode != Text && len(e.Vector) > 0 && len(e.Vector) == len(r.query.Vector) {
		vector = dot(r.query.Vector, e.Vector)
	}
	p := proposal{key: e.Key, revision: e.Revision, own: own, vector: rounded(vector)}
	if len(matches) == 0 {
		p.score = rounded(r.query.mean(vector, 0))
		r.best.add(p)
		return
	}
	matches = slices.Clone(matches)
	slices.SortFunc(matches, func(a, b search.Match) int { return cmp.Compare(a.Term, b.Term) })
	r.pending = append(r.pending, pending{proposal: p, vector: vector, matches: matches, length: length})
}

// hits returns the best entries.
func (r *ranking) hits() []Hit {
	weights := r.weights()
	for _, p := range r.pending {
		text := 0.0
		for _, m := range p.matches {
			text += weights.occurrence(m.Term, m.Occurrences, p.length)
		}
		p.text, p.score = rounded(textScore(text)), rounded(r.query.mean(p.vector, text))
		r.best.add(p.proposal)
	}
	return r.best.hits()
}

// addOwn compares the entries that the caller has not committed.
func (r *ranking) addOwn() {
	for i := range r.query.Own {
		r.add(&r.query.Own[i], i)
	}
}

// addRecords compares the entries of some records.
func (r *ranking) addRecords(ctx context.Context, records []storage.Record, decode Decode, hidden map[storage.Key]bool) error {
	for _, record := range records {
		if hidden[record.Key] {
			continue
		}
		if err := ctx.Err(); err != nil { // each record can take milliseconds
			return err
		}
		e, err := decode(record)
		if err != nil {
			return decodeError(err)
		}
		r.add(&e, -1)
	}
	return nil
}

// scan searches a partition without an index. If the argument "grow" is true and the prefix has
// enough entries for an index, scan does not complete the search. If scan does not complete the
// search, scan returns a partition, which the caller must search. The caller must release the
// partition.
func (s *Set) scan(ctx context.Context, key partitionKey, decode Decode, r *ranking, grow bool) ([]Hit, *partition, error) {
	hidden := make(map[storage.Key]bool, len(r.query.Hidden))
	for _, k := range r.query.Hidden {
		hidden[k] = true
	}
	read, pages := 0, pages{backend: s.backend, prefix: key.prefix}
	for more := true; more; {
		var records []storage.Record
		var err error
		if records, more, err = pages.next(ctx); err != nil {
			return nil, nil, err
		}
		if read += len(records); grow && read >= s.minEntries {
			if p := s.acquire(key, true); p != nil {
				return nil, p, nil
			}
			grow = false
		}
		if err := r.addRecords(ctx, records, decode, hidden); err != nil {
			return nil, nil, err
		}
		yield.Now()
	}
	s.counters.scans.Add(1)
	r.addOwn()
	return r.hits(), nil, nil
}
