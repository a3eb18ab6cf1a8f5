package block

import (
	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/search"
)

// Limits of searches.
const (
	// DefaultLimit is the default of Query.Limit, and MaxLimit is the maximum of Query.Limit.
	DefaultLimit = 10
	MaxLimit     = 100
	// MaxQueryBytes is the maximum size of a query.
	MaxQueryBytes = 64 << 10
)

// A Query is a search over the lines of blocks.
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

// check returns a fault if the query exceeds a limit.
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

// isScore reports whether a number is a valid score. NaN is not a valid score.
func isScore(number float64) bool { return number >= 0 && number <= 1 }

// Search returns the lines that match a query. The best match is the first result. Several lines
// can have the same score. The method Rank of search.Query determines the order of these lines. If
// Rank treats two lines as equal, the lines have the order of the argument "texts". Without an
// error, the result is never nil.
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

// A place identifies a line by two values: the text that contains the line, and the number of the
// line in this text.
type place struct {
	text   *Block
	number int
}

// match returns the Match that represents a line.
func (p place) match(line string, score float64) Match {
	m := Match{Content: line, Score: score, Name: p.text.Name, Scope: p.text.Scope(), Line: p.number, Updated: FormatTime(p.text.Updated)}
	if p.text.Agent != "" {
		m.Agent = &p.text.Agent
	}
	return m
}
