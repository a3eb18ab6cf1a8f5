package bundle

import (
	"math/bits"
	"strconv"
	"strings"
)

// Bounds of what a short text makes the parsers and compilers do. A time is that of one file with as much as it may have.
const (
	// maxListed bounds the lists of a file together: esbuild looks at the head of a sequence again for each of its parts.
	// That is a sequence of 6,000 parts, or 400 of 300, and takes it half a second.
	maxListed = 20_000_000
	// maxPatterns bounds what the regular expressions of a file unfold to, in which a{1000} counts as a thousand. They are
	// compiled in a quarter of a second and take 20 MB.
	maxPatterns = 250_000
	// maxPatternNesting bounds nested groups of a regular expression.
	maxPatternNesting = 500
	// maxDigits bounds the characters of a number: to read the digits of a BigInt takes time that grows with their square.
	maxDigits = 10_000
	// maxInlined bounds, in bytes, what the enums of a file come to: esbuild writes the value of a member wherever it is
	// used, and computes it.
	maxInlined = 64 << 20
	// shortValue is how long a member's value may be that is not looked at.
	shortValue = 256
)

// pattern adds the regular expression of a token, and says why the source must be refused, if it must.
func (s *scanner) pattern(text string) (why, hint string) {
	cost, depth := patternCost(text[1:strings.LastIndexByte(text, '/')])
	s.patterns += cost
	switch {
	case depth > maxPatternNesting:
		return "the groups of a regular expression are nested too deep", "nest fewer than " + strconv.Itoa(maxPatternNesting) + " groups"
	case s.patterns > maxPatterns:
		return "a regular expression, or all together, unfold to over " + strconv.Itoa(maxPatterns) + " steps", "repeat less: a{1000} counts as a thousand"
	}
	return "", ""
}

// patternCost returns how many steps a regular expression unfolds to, at most about a million, and how deep its groups are
// nested.
func patternCost(text string) (cost, depth int) {
	const most = 1 << 20
	type group struct{ all, last int } // the parts so far, without and with the last
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
				continue // no parser takes it
			}
			inner := g.all + g.last + 2
			groups = groups[:len(groups)-1]
			g = &groups[len(groups)-1]
			g.all, g.last = min(g.all+g.last, most), min(inner, most)
			continue
		case '{':
			if times, length := repetition(text[i:]); length > 0 {
				g.last = min(g.last*max(times, 1), most)
				i += length - 1
				continue
			}
		case '\\':
			i++
		case '[':
			i += classLength(text[i:]) - 1
		}
		g.all, g.last = min(g.all+g.last, most), 1
	}
	for _, g := range groups {
		cost += g.all + g.last
	}
	return cost, depth
}

// repetition reads {m}, {m,} or {m,n}, and returns the larger of its counts; a length of 0 where it is none.
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

// classLength is the length of a class of characters, with its brackets.
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

// enums is what a scan knows of the enums of TypeScript in a file.
type enums struct {
	depth   int // of the frame of the one that it is in; 0 for none
	longest int // bytes of the longest text in one
	joins   int // how often texts may be joined there: each may double the longest
	words   int // of the file, each of which may be a use
}

// enum notes what a token says of enums.
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
			e.depth = len(s.frames) - 1 // its frame is open
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
		e.longest = max(e.longest, s.pos-t.start) // the lexer is behind the piece of the template
	}
}

// tooMuch reports whether the values of the enums, written wherever they may be used, would be too much.
func (e *enums) tooMuch() bool {
	if e.longest == 0 {
		return false
	}
	if bits.Len(uint(e.longest))+e.joins > 40 {
		return true
	}
	value := e.longest << e.joins
	return value > shortValue && value > maxInlined/max(e.words, 1)
}
