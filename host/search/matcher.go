package search

// Match is a word of a query that occurs in a text.
type Match struct {
	// Term is the index of the word in Query.Terms.
	Term int
	// Occurrences is the number of words in the text that have the same stem as the word of the
	// query.
	Occurrences int
}

// Matcher finds the words of a query in texts. Matcher is not safe for concurrent use.
type Matcher struct {
	query *Query
	words words
	stems stemmer
	// known maps words to the indexes of their terms, or to noTerm.
	known map[string]int
	// matches contains the matches in the current text. If a term has a match, at[term] is greater
	// by 1 than the index of the match. If the term has no match, at[term] is 0.
	matches []Match
	at      []int
}

const noTerm = -1

// Matcher returns a Matcher for the query.
func (q *Query) Matcher() *Matcher {
	return &Matcher{query: q, stems: stemmer{language: q.language}, known: map[string]int{}, at: make([]int, len(q.terms))}
}

// Match returns the words of the query that a text contains, in the order of their first
// occurrences. The second result is the number of all words of the text. The next call of Match
// overwrites the returned matches.
func (m *Matcher) Match(text string) (matches []Match, length int) {
	for _, found := range m.matches {
		m.at[found.Term] = 0
	}
	m.matches = m.matches[:0]
	for m.words.reset(text); m.words.next(); {
		length++
		term := m.term(m.words.word)
		if term == noTerm {
			continue
		}
		if m.at[term] == 0 {
			m.matches = append(m.matches, Match{Term: term})
			m.at[term] = len(m.matches)
		}
		m.matches[m.at[term]-1].Occurrences++
	}
	return m.matches, length
}

// The method term returns the index of the term that a word matches, or noTerm. If no word of the
// query begins with the same byte as the word, the method term does not compute the stem of the
// word.
func (m *Matcher) term(word []byte) int {
	if !m.query.first[word[0]] {
		return noTerm
	}
	if term, ok := m.known[string(word)]; ok {
		return term
	}
	text := string(word)
	term, ok := m.query.terms[m.stems.stem(text)]
	if !ok {
		term = noTerm
	}
	if len(m.known) >= maxKnown {
		clear(m.known)
	}
	m.known[text] = term
	return term
}
