package schema

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"
)

// Limits on regular expressions. Matching with package regexp takes time proportional to the length
// of the text times the size of the expression. For example, the expression a{1000} has the size
// 1,000.
const (
	maxPatternText = 8 << 10   // the bytes of one expression
	maxPattern     = 2_000     // the instructions of one expression
	maxPatterns    = 20_000    // the instructions of all expressions
	maxRunes       = 1_000_000 // the ranges in all character classes, with repetitions
	maxWeight      = 2_000     // the weight of one expression; see weigh
	maxWeights     = 4_000     // the weight of all expressions
)

// pattern is a compiled regular expression.
type pattern struct {
	re   *regexp.Regexp
	size int // instructions
}

// matches reports whether the expression matches s.
func (p *pattern) matches(s string) bool { return p.re.MatchString(s) }

// cost returns the number of steps that matching s costs.
func (p *pattern) cost(s string) int { return 1 + len(s)*(1+p.size/16) }

// patternBudget counts the sizes of all regular expressions of a schema and enforces the limits on
// their totals.
type patternBudget struct{ size, runes, weight int }

// pattern checks one regular expression before the library compiles it.
func (s *scanner) pattern(expression, pointer string) {
	if len(expression) <= maxPatternText {
		s.patterns.weight += weigh(expression)
	}
	if s.patterns.weight > maxWeights {
		s.fail(pointer, "the regular expressions have too many case-insensitive classes or \\p{...} in total")
		return
	}
	size, runes, err := measure(expression)
	if err != nil {
		s.errs = append(s.errs, &Error{Pointer: pointer, Message: "the regular expression is not supported: " + err.Error(), Hint: patternHint(err)})
		return
	}
	s.patterns.size += size
	s.patterns.runes += runes
	switch {
	case size > maxPattern:
		s.fail(pointer, "the regular expression expands to %d steps; the limit is %d", size, maxPattern)
	case s.patterns.size > maxPatterns || s.patterns.runes > maxRunes:
		s.fail(pointer, "the regular expressions are too large in total")
	}
}

// measure returns the number of instructions that an expression would compile to, and the number of
// runes in its character classes.
func measure(expression string) (size, runes int, err error) {
	if len(expression) > maxPatternText {
		return 0, 0, errors.New("too long")
	}
	if weigh(expression) > maxWeight {
		return 0, 0, errors.New("too many case-insensitive classes or \\p{...}")
	}
	re, err := syntax.Parse(translate(expression), syntax.Perl)
	if detail, ok := errors.AsType[*syntax.Error](err); ok {
		return 0, 0, unsupported(detail)
	}
	if err != nil {
		return 0, 0, err
	}
	size, runes = measureTree(re)
	return size, runes, nil
}

// unsupportedError is the error for an expression that uses a JavaScript feature that RE2 does not
// support.
type unsupportedError struct{ what, hint string }

func (e *unsupportedError) Error() string { return e.what }

// foreign lists the JavaScript features that RE2 does not support, with the prefixes that introduce
// them.
var foreign = []struct{ begins, what, hint string }{
	{"(?=", "a lookahead, (?=...)", "match the whole text, or put each condition into a separate pattern under allOf"},
	{"(?!", "a negative lookahead, (?!...)", "put the excluded pattern into not: {pattern: ...}"},
	{"(?<=", "a lookbehind, (?<=...)", "match the preceding text too"},
	{"(?<!", "a negative lookbehind, (?<!...)", "put the excluded pattern into not: {pattern: ...}"},
	{`\k<`, "a backreference", "repeat the expression instead of using a backreference"},
}

// unsupported explains why RE2 rejects an expression.
func unsupported(err *syntax.Error) error {
	for _, f := range foreign {
		if strings.HasPrefix(err.Expr, f.begins) {
			return &unsupportedError{"it contains " + f.what, f.hint}
		}
	}
	if len(err.Expr) == 2 && err.Expr[0] == '\\' && '1' <= err.Expr[1] && err.Expr[1] <= '9' {
		last := foreign[len(foreign)-1]
		return &unsupportedError{"it contains " + last.what + ", " + err.Expr, last.hint}
	}
	return errors.New(err.Code.String())
}

func patternHint(err error) string {
	if e, ok := errors.AsType[*unsupportedError](err); ok {
		return e.hint
	}
	return "use RE2 syntax, which has no lookahead or backreference"
}

func measureTree(re *syntax.Regexp) (size, runes int) {
	for _, sub := range re.Sub {
		s, r := measureTree(sub)
		size, runes = size+s, runes+r
	}
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune), 0
	case syntax.OpCharClass:
		return 1, len(re.Rune)
	case syntax.OpRepeat:
		times := max(re.Min, re.Max, 1)
		return size * times, runes * times
	}
	return size + 1, runes
}

// isExpression checks the format "regex". isExpression takes linear time because it does not
// compile the expression. isExpression does not check the names of Unicode properties. isExpression
// rejects inline flags, which JavaScript does not support.
func isExpression(v any) bool {
	s, ok := v.(string)
	if !ok {
		return true
	}
	if ignoresCase(s) {
		return false
	}
	_, _, err := measure(propertyName.ReplaceAllString(s, "x"))
	return err == nil
}

// propertyName matches a character class that names a Unicode property, such as \p{L}.
var propertyName = regexp.MustCompile(`\\[pP](\{[^{}]*\}|[A-Za-z])`)

// These are the costs of parsing a character class, in units of 10 µs. If a class is
// case-insensitive, RE2 adds the other case of each character. If a class contains a Unicode
// property, RE2 adds all characters with the property.
const (
	foldedWeight   = 64
	propertyWeight = 16
)

// weigh estimates the cost of parsing an expression without parsing it.
func weigh(expression string) int {
	classes, properties := 0, 0
	for i := 0; i < len(expression); i++ {
		switch expression[i] {
		case '\\':
			if i++; i < len(expression) && (expression[i] == 'p' || expression[i] == 'P') {
				properties++
			}
		case '[':
			classes++
		}
	}
	if ignoresCase(expression) {
		return (classes + properties) * foldedWeight
	}
	return properties * propertyWeight
}

// ignoresCase reports whether an expression seems to contain the flag i, as in (?i) or (?s-i:...).
// ignoresCase can mistake an escaped parenthesis for the start of a group.
func ignoresCase(expression string) bool { return caseFlag.MatchString(expression) }

var caseFlag = regexp.MustCompile(`\(\?[a-zA-Z]*i[a-zA-Z]*[-:)]`)
