package abl

import (
	"io"
	"regexp"
	"unicode/utf8"
)

// costOfSearch is the fixed number of steps that a search costs, in addition to the steps for its
// instructions.
const costOfSearch = 10

// search finds the matches of a pattern in a text, one after the other. A search charges the
// evaluation for each character that it reads. To find one match, the search sometimes reads the
// whole remaining text. Therefore, the total cost can grow with the square of the text's length. A
// single call of package regexp could find all matches, but could not be interrupted.
type search struct {
	ev *evaluator
	p  *pattern
	s  string
	// position is the offset at which the next search begins. The field "last" is the end of the
	// last match, or -1.
	position, last int
}

func newSearch(ev *evaluator, p *pattern, s string) *search {
	return &search{ev: ev, p: p, s: s, last: -1}
}

// The method "next" returns the indices of the next match and of its groups. If the text contains
// no further match, the method "next" returns nil. If a match is empty and begins at the end of the
// previous match, the method "next" skips the match, like package regexp.
func (f *search) next() ([]int, error) {
	for f.position <= len(f.s) {
		match, err := f.find()
		if err != nil || match == nil {
			return nil, err
		}
		repeated := false
		if match[1] > f.position {
			f.position = match[1]
		} else {
			repeated = match[0] == f.last
			_, width := utf8.DecodeRuneInString(f.s[f.position:])
			f.position += max(width, 1)
		}
		if f.last = match[1]; !repeated {
			return match, nil
		}
	}
	return nil, nil
}

// find returns the first match that starts at the field "position" or later. The search also reads
// the character before this position, if there is one. Assertions such as \b depend on this
// character.
func (f *search) find() ([]int, error) {
	re, start := f.p.re, 0
	if f.position > 0 {
		var err error
		if re, err = f.p.continuation(); err != nil {
			return nil, err
		}
		_, width := utf8.DecodeLastRuneInString(f.s[:f.position])
		start = f.position - width
	}
	r := &chargedReader{ev: f.ev, text: f.s[start:], size: f.p.size}
	match := re.FindReaderSubmatchIndex(r)
	if err := f.ev.charge(costOfSearch + f.p.cost(r.steps)); err != nil || match == nil || r.exhausted {
		return nil, err
	}
	if f.position > 0 {
		match = match[2:]
	}
	for i := range match {
		if match[i] >= 0 {
			match[i] += start
		}
	}
	return match, nil
}

// continuation returns the pattern for a search that begins with the character before the field
// "position" of the search. In the returned pattern, the first group contains the match.
func (p *pattern) continuation() (re *regexp.Regexp, err error) {
	if p.rest != nil {
		return p.rest, nil
	}
	const start = `\A(?s:.)(?s:.*?)(`
	if p.rest, err = regexp.Compile(start + p.source + `)`); err != nil { // an unclosed quote contains the ")"
		p.rest, err = regexp.Compile(start + p.source + `\E)`)
	}
	return p.rest, err
}

// chargedReader reads a text for a search. chargedReader charges the evaluation for each step of
// the search. If the evaluation has no steps left, chargedReader reports that the text has ended.
type chargedReader struct {
	ev        *evaluator
	text      string
	size      int // the number of instructions of the pattern
	steps     int
	exhausted bool
}

// ReadRune implements io.RuneReader.
func (r *chargedReader) ReadRune() (rune, int, error) {
	if r.text == "" {
		return 0, 0, io.EOF
	}
	if r.steps += r.size; r.steps/workPerStep > *r.ev.cost {
		r.exhausted = true
		return 0, 0, io.EOF
	}
	char, width := utf8.DecodeRuneInString(r.text)
	r.text = r.text[width:]
	return char, width, nil
}
