package search

import "iter"

// Token is a word of a text.
type Token struct {
	// Word is the word in lower case. Stem is its stem.
	Word, Stem string
	// Common is true if the word is too common for searches, such as "the".
	Common bool
}

// Tokenizer splits texts into words. A Tokenizer caches the stems of recent words, so use one
// Tokenizer for many texts. Tokenizer is not safe for concurrent use.
type Tokenizer struct {
	words  words
	stems  stemmer
	common commonWords
	known  map[string]Token
}

// Tokenizer returns a Tokenizer for texts in the language.
func (l *Language) Tokenizer() *Tokenizer {
	return &Tokenizer{stems: stemmer{language: l}, common: commonWordsOf(l.name), known: map[string]Token{}}
}

// Tokens returns the words of a text, in order. After the next call of Tokens, the earlier sequence
// must not be used.
func (t *Tokenizer) Tokens(text string) iter.Seq[Token] {
	return func(yield func(Token) bool) {
		for t.words.reset(text); t.words.next(); {
			if !yield(t.token(t.words.word)) {
				return
			}
		}
	}
}

// maxKnown is the maximum number of words whose stems a Tokenizer caches.
const maxKnown = 1 << 14

// The method token returns the token of a word.
func (t *Tokenizer) token(word []byte) Token {
	if known, ok := t.known[string(word)]; ok {
		return known
	}
	if len(t.known) == maxKnown {
		clear(t.known)
	}
	text := string(word)
	made := Token{Word: text, Stem: t.stems.stem(text), Common: t.common.contains(word)}
	t.known[text] = made
	return made
}
