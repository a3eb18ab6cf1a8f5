package block

import (
	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/search"
)

// Limits of searches.
const (
	// DefaultLimit is the default of Query.Limit, and MaxLimit is its maximum.
	DefaultLimit = 10
	MaxLimit     = 100
	// MaxQueryBytes is the maximum size of a query.
	MaxQueryBytes = 64 << 10
)

// Query is a search over the lines of blocks.
type Query struct {
	// Text contains the words to search for.
	Text string
	// Language is the language of the blocks and the query. Default: search.DefaultLanguage.
	Language string
	// Limit is the maximum number of matches, from 1 to MaxLimit.
	Limit int
	// MinScore is the minimum score of a match, from 0 to 1.
	MinScore float64
}

// check returns a fault if a query exceeds its limits.
func (q Query) check() error {
	switch {
	case len(q.Text) > MaxQueryBytes:
		return abi.Faultf(abi.TooLarge, "the query has %d bytes; the limit is %d", len(q.Text), MaxQueryBytes)
	case q.Limit < 1 || q.Limit > MaxLimit:
		return abi.Faultf(abi.InvalidArgument, "the limit is %d, but must be from 1 to %d", q.Limit, MaxLimit)
	case !isScore(q.MinScore):
		return abi.Faultf(abi.InvalidArgument, "the minimum score is %v, but must be from 0 to 1", q.MinScore)
	}
	return nil
}

// isScore reports whether a number can be a score. NaN cannot.
func isScore(number float64) bool { return number >= 0 && number <= 1 }

// Search returns the lines of texts that match a query, with the best match first. The method Rank
// of search.Query determines the order of lines with the same score. If two lines are equivalent
// for Rank, the lines are in the order of the texts. Without an error, the result is never nil.
func Search(texts []Block, q Query) ([]Match, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	language, err := search.FindLanguage(q.Language)
	if err != nil {
		return nil, abi.Faultf(abi.InvalidArgument, "%v", err)
	}
	var lines []string
	var places []place
	for i := range texts {
		for line := range Lines(texts[i].Content) {
			lines, places = append(lines, line.Text), append(places, place{&texts[i], line.Number})
		}
	}
	hits := language.Query(q.Text).Rank(lines, search.Options{Limit: q.Limit, MinScore: q.MinScore})
	matches := make([]Match, len(hits))
	for i, h := range hits {
		matches[i] = places[h.Text].match(lines[h.Text], h.Score)
	}
	return matches, nil
}

// place identifies a line by its text and by the number of the line in the text.
type place struct {
	text   *Block
	number int
}

// match returns the Match for a line.
func (p place) match(line string, score float64) Match {
	m := Match{Content: line, Score: score, Name: p.text.Name, Scope: p.text.Scope(), Line: p.number, Updated: FormatTime(p.text.Updated)}
	if p.text.Agent != "" {
		m.Agent = &p.text.Agent
	}
	return m
}
