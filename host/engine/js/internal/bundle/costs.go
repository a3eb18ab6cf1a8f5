package bundle

import (
	"math/bits"
	"strconv"
	"strings"
)

// Short source text can cause much work in the parsers and compilers. The constants below limit
// this work. Each duration in the comments was measured with one file that reaches the limit.
const (
	// maxListed bounds the cost of all comma sequences in a file. esbuild scans all earlier
	// elements of a sequence again for each element. A file with one sequence of 6,000 elements, or
	// with 400 sequences of 300 elements, reaches the limit. esbuild needs half a second for a file
	// at the limit.
	maxListed = 20_000_000
	// maxPatterns bounds the steps of all regular expressions in a file. For example, a{1000}
	// counts as a thousand steps. For a file at the limit, compilation takes a quarter of a second
	// and uses 20 MB.
	maxPatterns = 250_000
	// maxPatternNesting bounds the nesting of groups in a regular expression.
	maxPatternNesting = 500
	// maxDigits bounds the number of digits of a number, because the time to parse a BigInt is
	// quadratic in the number of digits.
	maxDigits = 10_000
	// maxInlined bounds the bytes that inlined enum values add to a file. esbuild replaces each use
	// of an enum member by the member's value.
	maxInlined = 64 << 20
	// shortValue is a length in bytes. Values of enum members that are not longer than shortValue
	// do not count toward maxInlined.
	shortValue = 256
)

// pattern counts the steps of a regular expression. If the source must be rejected, the method
// returns the reason and a hint.
func (s *scanner) pattern(text string) (why, hint string) {
	cost, depth := patternCost(text[1:strings.LastIndexByte(text, '/')])
	s.patterns += cost
	switch {
	case depth > maxPatternNesting:
		return "the groups of a regular expression are nested too deeply", "nest fewer than " + strconv.Itoa(maxPatternNesting) + " groups"
	case s.patterns > maxPatterns:
		return "the regular expressions expand to more than " + strconv.Itoa(maxPatterns) + " steps", "use fewer repetitions: a{1000} counts as 1,000 steps"
	}
	return "", ""
}

// patternCost returns the number of steps of a regular expression and the nesting depth of its
// groups. The number of steps is capped at about a million.
func patternCost(text string) (cost, depth int) {
	const limit = 1 << 20
	type group struct{ all, last int } // the steps of the last term and of all earlier terms
	groups := []group{{}}
	for i := 0; i < len(text); i++ {
		g := &groups[len(groups)-1]
		switch c := text[i]; c {
		case '(':
			groups = append(groups, group{})
			depth = max(depth, len(groups)-1)
			continue
		case ')':
			if len(groups) == 1 {
				continue // every parser rejects an unmatched parenthesis
			}
			inner := g.all + g.last + 2
			groups = groups[:len(groups)-1]
			g = &groups[len(groups)-1]
			g.all, g.last = min(g.all+g.last, limit), min(inner, limit)
			continue
		case '{':
			if times, length := repetition(text[i:]); length > 0 {
				g.last = min(g.last*max(times, 1), limit)
				i += length - 1
				continue
			}
		case '\\':
			i++
		case '[':
			i += classLength(text[i:]) - 1
		}
		g.all, g.last = min(g.all+g.last, limit), 1
	}
	for _, g := range groups {
		cost += g.all + g.last
	}
	return cost, depth
}

// repetition parses a repetition such as {m}, {m,} or {m,n}. repetition returns the larger number,
// and the length of the repetition's text. The length is 0 if the text is not a repetition.
func repetition(text string) (times, length int) {
	end := strings.IndexByte(text, '}')
	if end < 2 || end > 40 {
		return 0, 0
	}
	for part := range strings.SplitSeq(text[1:end], ",") {
		n, err := strconv.Atoi(part)
		if err != nil && part != "" {
			return 0, 0
		}
		times = max(times, min(n, 1<<20))
	}
	return times, end + 1
}

// classLength returns the length of a character class, including its brackets.
func classLength(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case ']':
			return i + 1
		}
	}
	return len(text)
}

// enums summarizes the TypeScript enums of a file.
type enums struct {
	depth   int // the depth of the frame of the current enum; 0 outside of enums
	longest int // the length in bytes of the longest string in an enum
	joins   int // the number of concatenations; each can double the longest string
	words   int // the number of words in the file; each word can be a use of an enum member
}

// enum updates the summary of enums after each token.
func (s *scanner) enum(t token, text string) {
	e := &s.enums
	if t.kind == word {
		e.words++
	}
	if e.depth > 0 && len(s.frames)-1 < e.depth {
		e.depth = 0
	}
	if e.depth == 0 {
		if text == "{" && s.prior.kind == word && s.text(s.prior) == "enum" && s.prev.kind == word {
			e.depth = len(s.frames) - 1 // the scanner has already opened the frame of the enum
		}
		return
	}
	switch {
	case t.kind == literal && strings.ContainsAny(text[:1], `"'`):
		e.longest = max(e.longest, len(text))
	case text == "+":
		e.joins++
	case text == "`", text == "}" && s.closed.open == '`':
		e.joins++
		e.longest = max(e.longest, s.lexer.pos-t.start) // the lexer is at the end of this part
	}
}

// exceeded reports whether the inlined enum values can exceed the limit.
func (e *enums) exceeded() bool {
	if e.longest == 0 {
		return false
	}
	if bits.Len(uint(e.longest))+e.joins > 40 {
		return true
	}
	value := e.longest << e.joins
	return value > shortValue && value > maxInlined/max(e.words, 1)
}
