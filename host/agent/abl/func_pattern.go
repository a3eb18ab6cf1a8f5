package abl

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"github.com/toolrun/toolrun/internal/lazyregexp"
)

const (
	maxPatternBytes        = 1_000
	maxPatternInstructions = 5_000
)

// pattern is a compiled regular expression. The cost of a match depends on the number of
// instructions of the pattern.
type pattern struct {
	re   *regexp.Regexp
	size int
	// source is the text of the regular expression. rest is the regular expression that the method
	// "continuation" has returned, or nil.
	source string
	rest   *regexp.Regexp
}

// workPerStep is the number of executed instructions that cost one step. A search is charged as if
// it executed each instruction of the pattern once for each character that it reads.
const workPerStep = 10

// cost converts a number of instructions to a number of steps.
func (p *pattern) cost(instructions int) int { return instructions / workPerStep }

var errPatternSize = errors.New("the pattern is too large")

// maxLoadCost is the maximum cost of parsing a pattern that is checked when its file is loaded.
// More expensive patterns are checked during evaluation.
const maxLoadCost = 10_000

// checkPattern returns an error if a pattern in a file is invalid.
func checkPattern(s string) error {
	if costOfParsing(s) > maxLoadCost {
		return nil
	}
	_, err := compilePattern(s)
	return err
}

// compilePattern compiles a regular expression. compilePattern returns an error if the expression
// is too large.
func compilePattern(s string) (*pattern, error) {
	parsed, err := parsePattern(s)
	if err != nil {
		return nil, err
	}
	return compileParsed(s, parsed)
}

// parsePattern parses a regular expression. If the pattern is certainly too large, parsePattern
// rejects the pattern before expanding its repetitions.
func parsePattern(s string) (*syntax.Regexp, error) {
	if len(s) > maxPatternBytes {
		return nil, errPatternSize
	}
	parsed, err := syntax.Parse(s, syntax.Perl)
	if err != nil {
		return nil, err
	}
	if expandedSize(parsed) > 4*maxPatternInstructions {
		return nil, errPatternSize
	}
	return parsed, nil
}

// expandedSize returns the number of nodes that a parsed pattern has after its repetitions are
// expanded.
func expandedSize(re *syntax.Regexp) int {
	size := 1
	for _, sub := range re.Sub {
		size = min(size+expandedSize(sub), 1<<30)
	}
	if re.Op == syntax.OpRepeat {
		size = min(size*max(re.Min, re.Max, 1), 1<<30)
	}
	return size
}

func compileParsed(s string, parsed *syntax.Regexp) (*pattern, error) {
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, err
	}
	if len(program.Inst) > maxPatternInstructions {
		return nil, errPatternSize
	}
	compiled, err := regexp.Compile(s)
	if err != nil {
		return nil, err
	}
	return &pattern{re: compiled, size: len(program.Inst), source: s}, nil
}

// compile compiles a pattern. compile charges the cost of compiling the pattern, and of searching
// the argument "s" once. If the pattern is invalid, compile returns nil.
func (ev *evaluator) compile(at Position, s, source string) (*pattern, error) {
	if err := ev.charge(costOfParsing(source)); err != nil {
		return nil, err
	}
	parsed, err := parsePattern(source)
	if err != nil {
		ev.warnf(at, "a pattern is not valid: %v", errPattern(err))
		return nil, nil
	}
	if err := ev.charge(2 * expandedSize(parsed)); err != nil {
		return nil, err
	}
	p, err := compileParsed(source, parsed)
	if err != nil {
		ev.warnf(at, "a pattern is not valid: %v", errPattern(err))
		return nil, nil
	}
	return p, ev.charge(p.cost(len(s) * p.size))
}

// foldsCase matches the start of a group whose flags include "i", which ignores case.
var foldsCase = lazyregexp.New(`\(\?[a-zA-Z]*i`)

// costOfParsing returns the cost, in steps, of parsing a pattern and compiling its character
// classes. A Unicode character class has hundreds of ranges. If the pattern ignores case, each
// range is expanded character by character.
func costOfParsing(source string) int {
	source = source[:min(len(source), maxPatternBytes)]
	classes := strings.Count(source, `\p`) + strings.Count(source, `\P`)
	steps := 20 + len(source) + 1_500*classes
	if !foldsCase().MatchString(source) {
		return steps
	}
	for i := range len(source) {
		if source[i] == '-' {
			steps += costOfFolding(source[:i], source[i+1:])
		}
	}
	return steps + 3_000*classes
}

// costOfFolding returns the cost, in steps, of expanding a range of characters. The argument
// "before" ends with the first character of the range, and the argument "after" begins with the
// last.
func costOfFolding(before, after string) int {
	const largest = 125_000 // about the last character that has upper and lower case
	low, _ := utf8.DecodeLastRuneInString(before)
	high, _ := utf8.DecodeRuneInString(after)
	size := min(max(int(high-low), 0), largest)
	if high == '\\' || low == '}' || strings.HasSuffix(strings.TrimSuffix(before, string(low)), `\`) { // an escape sequence
		size = largest
	}
	return size * 3 / 2
}

// errPattern returns an error that does not contain the text of the pattern, because the text can
// come from a confidential value.
func errPattern(err error) error {
	var invalid *syntax.Error
	if errors.As(err, &invalid) {
		return errors.New(string(invalid.Code))
	}
	return err
}

func (ev *evaluator) matches(at Position, s, source string) (bool, error) {
	p, err := ev.compile(at, s, source)
	if err != nil || p == nil {
		return false, err
	}
	return p.re.MatchString(s), nil
}

func patternFunctions() []function {
	return []function{
		fn("REGEX_REPLACE(text, pattern, replacement)", regexReplace),
		fn("REGEX_EXTRACT(text, pattern, group?)", regexExtract),
		fn("MATCHES_PATTERN(text, pattern)", func(c *invocation) (any, error) { return c.testPattern() }),
		fn("NOT_MATCHES_PATTERN(text, pattern)", func(c *invocation) (any, error) {
			found, err := c.testPattern()
			return !found, err
		}),
	}
}

func (c *invocation) testPattern() (bool, error) {
	texts, err := c.strs()
	if err != nil {
		return false, err
	}
	return c.ev.matches(c.at, texts[0], texts[1])
}

// regexReplace replaces all matches of a pattern. The replacement can contain "$1" to "$9", which
// stand for the groups of the match. If the pattern is invalid, regexReplace returns the text
// unchanged.
func regexReplace(c *invocation) (any, error) {
	texts, err := c.strs()
	if err != nil {
		return nil, err
	}
	s, replacement := texts[0], texts[2]
	p, err := c.ev.compile(c.at, s, texts[1])
	if err != nil || p == nil {
		return s, err
	}
	var b strings.Builder
	end := 0
	matches := newSearch(c.ev, p, s)
	for {
		match, err := matches.next()
		if err != nil {
			return nil, err
		}
		if match == nil {
			break
		}
		b.WriteString(s[end:match[0]])
		expand(&b, replacement, s, match)
		if end = match[1]; b.Len() > 4*MaxTextChars {
			return nil, ErrTooLong
		}
		if err := c.ev.charge(1 + len(replacement)/64); err != nil {
			return nil, err
		}
	}
	b.WriteString(s[end:])
	return c.ev.produce(b.String())
}

// expand writes a replacement, after inserting the groups of a match.
func expand(b *strings.Builder, replacement, s string, match []int) {
	for i := 0; i < len(replacement); i++ {
		if replacement[i] != '$' || i+1 == len(replacement) || replacement[i+1] < '1' || replacement[i+1] > '9' {
			b.WriteByte(replacement[i])
			continue
		}
		i++
		b.WriteString(group(s, match, int(replacement[i]-'0')))
	}
}

func group(s string, match []int, n int) string {
	if 2*n+1 >= len(match) || match[2*n] < 0 {
		return ""
	}
	return s[match[2*n]:match[2*n+1]]
}

// regexExtract returns the first match of a pattern. If the caller selects a group, regexExtract
// returns this group of the first match. If the pattern does not match, regexExtract returns null.
func regexExtract(c *invocation) (any, error) {
	s, err := c.str(0)
	if err != nil {
		return nil, err
	}
	source, err := c.str(1)
	if err != nil {
		return nil, err
	}
	p, err := c.ev.compile(c.at, s, source)
	if err != nil || p == nil {
		return nil, err
	}
	n := c.integer(2, 0)
	match := p.re.FindStringSubmatchIndex(s)
	if n < 0 || 2*n+1 >= len(match) || match[2*n] < 0 {
		return nil, nil
	}
	return s[match[2*n]:match[2*n+1]], nil
}
