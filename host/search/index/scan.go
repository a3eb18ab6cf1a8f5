package index

import (
	"cmp"
	"context"
	"slices"

	"github.com/toolrun/toolrun/host/search"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/internal/yield"
)

// pageSize is the number of records that are read at a time.
const pageSize = 256

// scan is a search that compares entries one by one, without an index.
type scan struct {
	query   *Query
	matcher *search.Matcher // nil in the mode Vector
	statistics
	best best
	// pending contains the entries with words of the query. Their scores depend on the statistics.
	pending []pending
}

// pending is an entry that contains words of the query.
type pending struct {
	proposal
	vector  float64
	matches []search.Match // in the order of the terms
	length  int
}

// newScan returns a scan without entries.
func newScan(q *Query, words *search.Query) *scan {
	s := &scan{query: q, best: best{limit: q.Limit, threshold: q.Threshold}}
	if words != nil {
		s.matcher, s.containing = words.Matcher(), make([]int, len(words.Terms()))
	}
	return s
}

// add compares an entry. The argument "own" is the index of the entry in Query.Own, or -1.
func (s *scan) add(e *Entry, own int) {
	if e.expired(s.query.Now) {
		return
	}
	var matches []search.Match
	length := 0
	if s.matcher != nil {
		matches, length = s.matcher.Match(e.Text)
		for _, m := range matches {
			s.containing[m.Term]++
		}
	}
	s.entries, s.words = s.entries+1, s.words+length
	if !s.query.Filter.Matches(e.Metadata) {
		return
	}
	vector := 0.0
	if s.query.Mode != Text && len(e.Vector) > 0 && len(e.Vector) == len(s.query.Vector) {
		vector = dot(s.query.Vector, e.Vector)
	}
	p := proposal{key: e.Key, revision: e.Revision, own: own, vector: rounded(vector)}
	if len(matches) == 0 {
		p.score = s.query.Mode.combined(vector, 0)
		s.best.add(p)
		return
	}
	matches = slices.Clone(matches)
	slices.SortFunc(matches, func(a, b search.Match) int { return cmp.Compare(a.Term, b.Term) })
	s.pending = append(s.pending, pending{proposal: p, vector: vector, matches: matches, length: length})
}

// hits returns the best entries.
func (s *scan) hits() []Hit {
	weights := s.weights()
	for _, p := range s.pending {
		text := 0.0
		for _, m := range p.matches {
			text += weights.occurrence(m.Term, m.Occurrences, p.length)
		}
		p.text, p.score = rounded(text), s.query.Mode.combined(p.vector, text)
		s.best.add(p.proposal)
	}
	return s.best.hits()
}

// scan searches a partition without an index.
func (s *Set) scan(ctx context.Context, prefix storage.Key, decode Decode, q *Query, words *search.Query) ([]Hit, error) {
	found, hidden := newScan(q, words), keySet(q.Hidden)
	for after := storage.Key(""); ; yield.Now() {
		records, err := s.backend.Scan(ctx, prefix, after, pageSize)
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			if hidden[r.Key] {
				continue
			}
			e, err := decode(r)
			if err != nil {
				return nil, decodeError(err)
			}
			found.add(&e, -1)
		}
		if len(records) < pageSize {
			break
		}
		after = records[len(records)-1].Key
	}
	for i := range q.Own {
		found.add(&q.Own[i], i)
	}
	return found.hits(), nil
}

func keySet(keys []storage.Key) map[storage.Key]bool {
	set := make(map[storage.Key]bool, len(keys))
	for _, k := range keys {
		set[k] = true
	}
	return set
}
