package abl

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"
)

const (
	maxPatternBytes        = 1_000
	maxPatternInstructions = 5_000
)

// pattern is a compiled regular expression with its number of instructions, which bounds the cost of
// a match.
type pattern struct {
	re   *regexp.Regexp
	size int
	// source is the expression without flags or quotes that are still open at its end. rest is the
	// expression of continuation, or nil.
	source string
	rest   *regexp.Regexp
}

var errPatternSize = errors.New("the pattern is too large")

// compilePattern compiles a regular expression of bounded size.
func compilePattern(s string) (*pattern, error) {
	if len(s) > maxPatternBytes {
		return nil, errPatternSize
	}
	parsed, err := syntax.Parse(s, syntax.Perl)
	if err != nil {
		return nil, err
	}
	source := parsed.String() // Simplify changes parsed
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
	return &pattern{re: compiled, size: len(program.Inst), source: source}, nil
}

// compile compiles a pattern. It charges the cost of the compilation and of a match in s. The
// pattern is nil if it is invalid.
func (ev *evaluator) compile(at Position, s, source string) (*pattern, error) {
	if err := ev.charge(20 + len(source)); err != nil {
		return nil, err
	}
	p, err := compilePattern(source)
	if err != nil {
		ev.warnf(at, "a pattern is not valid: %v", errPattern(err))
		return nil, nil
	}
	return p, ev.charge(p.size + len(s)*p.size/64)
}

// errPattern returns an error without the text of the pattern, which can be a value.
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

// regexReplace replaces all matches. $1 to $9 in the replacement are groups. With an invalid pattern
// the result is the unchanged text.
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

// expand writes a replacement with the groups of a match.
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

// regexExtract returns the first match or one of its groups, or null if there is none.
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
