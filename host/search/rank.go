package search

import (
	"cmp"
	"math"
	"slices"
)

// Hit is a text that contains at least one word of a query.
type Hit struct {
	// Text is the index of the text.
	Text int
	// Score is the total weight of the query's words that occur in the text, divided by the total
	// weight of all words of the query. Score is a multiple of 0.0001 from 0 to 1. A text that
	// contains all words of the query has the score 1.
	Score float64
}

// Options are the options of a search. The zero value returns all texts that contain a word of the
// query.
type Options struct {
	// Limit is the maximum number of hits. Zero means no limit.
	Limit int
	// MinScore is the minimum score of a hit.
	MinScore float64
}

// unit is the factor that converts weights to integers. Unlike sums of floating-point numbers, sums
// of integers do not depend on the order of the words or on the processor.
const unit = 1 << 20

// Rank returns the texts that match a query, with the best text first. Texts with the same score
// are sorted by BM25, which prefers repeated words and short texts. Texts with the same score and
// the same BM25 value have the same order as in the argument "texts".
func (q *Query) Rank(texts []string, o Options) []Hit {
	if q.IsEmpty() {
		return nil
	}
	found := q.find(texts)
	weights, total := found.weights(len(texts))
	var ranked []rankedHit
	for i, p := range found.postings {
		if i == 0 || p.text != found.postings[i-1].text {
			ranked = append(ranked, rankedHit{Hit: Hit{Text: p.text}})
		}
		h := &ranked[len(ranked)-1]
		h.weight += weights[p.term]
		h.tie += int64(math.Round(float64(weights[p.term]) * Saturation(p.occurrences, found.lengths[p.text], found.average)))
	}
	for i := range ranked {
		ranked[i].Score = math.Round(float64(ranked[i].weight)/float64(total)*1e4) / 1e4
	}
	slices.SortFunc(ranked, func(a, b rankedHit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.tie, a.tie), cmp.Compare(a.Text, b.Text))
	})
	return best(ranked, o)
}

// rankedHit contains a Hit and the two sums by which hits are sorted. One sum adds the weights of
// the words, and the other sum adds the BM25 values of the words.
type rankedHit struct {
	Hit
	weight, tie int64
}

// best returns the first hits, up to the limit of the options. best omits hits whose score is too
// low.
func best(ranked []rankedHit, o Options) []Hit {
	if o.Limit > 0 && len(ranked) > o.Limit {
		ranked = ranked[:o.Limit]
	}
	hits := make([]Hit, 0, len(ranked))
	for _, h := range ranked {
		if h.Score >= o.MinScore {
			hits = append(hits, h.Hit)
		}
	}
	return hits
}

// posting contains the number of occurrences of a term in a text.
type posting struct {
	text, term, occurrences int
}

// occurrences contains the occurrences of a query's terms in texts.
type occurrences struct {
	// The field postings contains the postings of all terms, in the order of the texts.
	postings []posting
	// containing lists, for each term, the number of texts that contain the term.
	containing []int
	// lengths contains the number of words of each text. average is the average number of words of
	// all texts.
	lengths []int
	average float64
}

// find returns the occurrences of the query's terms.
func (q *Query) find(texts []string) *occurrences {
	found := &occurrences{containing: make([]int, len(q.terms)), lengths: make([]int, len(texts))}
	m, total := q.Matcher(), 0
	for i, text := range texts {
		matches, length := m.Match(text)
		for _, match := range matches {
			found.postings = append(found.postings, posting{text: i, term: match.Term, occurrences: match.Occurrences})
			found.containing[match.Term]++
		}
		found.lengths[i] = length
		total += length
	}
	found.average = float64(total) / float64(max(1, len(texts)))
	return found
}

// weights returns the weight of each term, and the sum of all weights.
func (f *occurrences) weights(texts int) (weights []int64, total int64) {
	weights = make([]int64, len(f.containing))
	for term, n := range f.containing {
		weights[term] = int64(math.Round(IDF(texts, n) * unit))
		total += weights[term]
	}
	return weights, total
}
