package search

import (
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxWordBytes is the maximum size of a word. If a word is longer than maxWordBytes, only the
// beginning of the word is compared.
const maxWordBytes = 64

// lower maps each ASCII letter to its lower case and each digit to itself. lower maps all other
// ASCII characters to 0.
var lower = func() (table [utf8.RuneSelf]byte) {
	for c := range byte(utf8.RuneSelf) {
		switch {
		case c >= 'A' && c <= 'Z':
			table[c] = c + 'a' - 'A'
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
			table[c] = c
		}
	}
	return table
}()

// words splits a text into words: sequences of letters and digits, in lower case. In scripts that
// put no spaces between words, each pair of adjacent characters is a word.
type words struct {
	text string
	at   int
	// word is the current word. The next call of the method "next" overwrites the bytes of this
	// word.
	word []byte
	// paired is true if the character at the current position is the second character of the
	// previous pair.
	paired bool
}

// reset starts to split another text.
func (w *words) reset(text string) {
	if !isASCII(text) && !norm.NFKC.IsNormalString(text) {
		text = normalized(text)
	}
	w.text, w.at, w.paired = text, 0, false
}

// expansion is the maximum factor by which normalization makes a text longer. Normalization
// replaces one character by up to 18 characters: without a maximum, a small text could cause much
// work. The limit is never less than minExpanded bytes.
const (
	expansion   = 2
	minExpanded = 4 << 10
)

// normalized returns the beginning of the text in the normalization form NFKC.
func normalized(text string) string {
	limit := max(expansion*len(text), minExpanded)
	var b strings.Builder
	b.Grow(len(text))
	_, _ = io.Copy(&b, io.LimitReader(norm.NFKC.Reader(strings.NewReader(text)), int64(limit))) // cannot fail
	return b.String()
}

// The method "next" advances to the next word. The method returns false at the end of the text.
func (w *words) next() bool {
	w.word = w.word[:0]
	for w.at < len(w.text) {
		c := w.text[w.at]
		if c >= utf8.RuneSelf {
			if w.rune() {
				return true
			}
			continue
		}
		w.paired = false
		if l := lower[c]; l != 0 {
			if len(w.word) < maxWordBytes {
				w.word = append(w.word, l)
			}
			w.at++
			continue
		}
		if len(w.word) > 0 {
			w.skipContraction()
			return true
		}
		w.at++
	}
	return len(w.word) > 0
}

// The method rune reads a character that is not ASCII. The method rune returns true if a word is
// complete.
func (w *words) rune() bool {
	r, n := utf8.DecodeRuneInString(w.text[w.at:])
	switch {
	case isSpaceless(r):
		return len(w.word) > 0 || w.pair(r, n)
	case unicode.IsLetter(r) || unicode.IsDigit(r) || len(w.word) > 0 && unicode.IsMark(r):
		if len(w.word)+utf8.UTFMax <= maxWordBytes {
			w.word = utf8.AppendRune(w.word, unicode.ToLower(r))
		}
		w.at, w.paired = w.at+n, false
		return false
	}
	complete := len(w.word) > 0
	if complete {
		w.skipContraction()
	} else {
		w.at += n
	}
	w.paired = false
	return complete
}

// pair reads the pair of characters that begins with the character r, which has n bytes. If r is
// the last character of a sequence and all pairs of the sequence have been read, pair returns
// false.
func (w *words) pair(r rune, n int) bool {
	w.at += n
	next, _ := utf8.DecodeRuneInString(w.text[w.at:])
	last := !isSpaceless(next)
	if last && w.paired {
		w.paired = false
		return false
	}
	w.word = utf8.AppendRune(w.word, r)
	if !last {
		w.word = utf8.AppendRune(w.word, next)
	}
	w.paired = !last
	return true
}

// contractions contains the letters that can follow the apostrophe in an English contraction. A
// contraction does not count as a word.
const contractions = " s t d m re ve ll "

// skipContraction skips an apostrophe and a contraction after a word, such as "'s" in "it's".
func (w *words) skipContraction() {
	rest, found := strings.CutPrefix(w.text[w.at:], "'")
	if !found {
		rest, found = strings.CutPrefix(w.text[w.at:], "\u2019")
	}
	if !found {
		return
	}
	w.at = len(w.text) - len(rest)
	n := 0
	for n < len(rest) && n < 3 && rest[n] < utf8.RuneSelf && lower[rest[n]] != 0 {
		n++
	}
	if n > 0 && n < 3 && strings.Contains(contractions, " "+strings.ToLower(rest[:n])+" ") && !continues(rest[n:]) {
		w.at += n
	}
}

// continues reports whether a text begins with a letter.
func continues(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.IsLetter(r)
}

// isSpaceless reports whether a character belongs to a script that puts no spaces between words.
func isSpaceless(r rune) bool {
	const prolonged = '\u30FC' // the mark for long vowels; Unicode assigns no script to this mark
	return r >= 0x0E00 && (r == prolonged || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar))
}
