package search

// MaxTerms is the maximum number of different words of a query. Further words are ignored.
const MaxTerms = 256

// maxQueryWords is the maximum number of words that are read from the text of a query. The
// remaining words are ignored. Repeated words and common words count, too. The constant bounds the
// work if normalization makes a text longer.
const maxQueryWords = 8192

// Query is a set of words to search for. Query is immutable and safe for concurrent use.
type Query struct {
	language *Language
	// terms maps the stems to their indexes.
	terms map[string]int
	// The field "first" contains the first bytes of all words whose stem can be a term of the
	// query.
	first [256]bool
}

// Query returns the query for a text. Query omits common words such as "the", unless all words of
// the text are common.
func (l *Language) Query(text string) *Query {
	q := &Query{language: l, terms: map[string]int{}}
	q.add(text, commonWordsOf(l.name))
	if len(q.terms) == 0 {
		q.add(text, "")
	}
	for c := range q.first {
		q.first[c] = c >= 0x80 || l.prefixes // if the accent is removed, the first letter can be an ASCII letter
	}
	for stem := range q.terms {
		q.first[stem[0]] = true
	}
	return q
}

// add adds the stems of the words of a text to the query. add omits the words in the argument
// "omit".
func (q *Query) add(text string, omit commonWords) {
	w, s, seen := words{}, stemmer{language: q.language}, map[string]bool{}
	w.reset(text)
	for read := 0; read < maxQueryWords && len(q.terms) < MaxTerms && w.next(); read++ {
		if seen[string(w.word)] || omit.contains(w.word) {
			continue
		}
		word := string(w.word)
		seen[word] = true
		stem := s.stem(word)
		if _, known := q.terms[stem]; !known {
			q.terms[stem] = len(q.terms)
		}
	}
}

// Terms returns the stems of the query, in the order of their indexes. See Match.Term.
func (q *Query) Terms() []string {
	terms := make([]string, len(q.terms))
	for stem, i := range q.terms {
		terms[i] = stem
	}
	return terms
}

// IsEmpty reports whether the query contains no words.
func (q *Query) IsEmpty() bool { return len(q.terms) == 0 }
