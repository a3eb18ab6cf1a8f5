package property

import (
	"errors"
	"strings"

	"github.com/toolrun/toolrun/internal/lazyregexp"
)

// MaxExpanded is the maximum number of bytes of an expanded expression. A single property can
// expand to 14,000 bytes.
const MaxExpanded = 256 << 10

// The errors of Expand. The errors have the texts of V8, because guests can read them.
//
//lint:file-ignore ST1005 the texts are those of V8
var (
	ErrName  = errors.New("Invalid property name")
	ErrRange = errors.New("Invalid character class")
	ErrSize  = errors.New("Regular expression too large")
)

// namedGroup matches the beginning of a named group.
var namedGroup = lazyregexp.New(`\(\?<[^=!]`)

// Changes reports whether Expand might change an expression that has the flag u.
func Changes(pattern string) bool {
	return Used(pattern) || strings.Contains(pattern, "(?<") && namedGroup().MatchString(pattern)
}

// Used reports whether an expression can contain a property.
func Used(pattern string) bool {
	return strings.Contains(pattern, `\p`) || strings.Contains(pattern, `\P`)
}

// Expand replaces each property in an expression by a character class. The expression must have the
// flag u. If the expression has named groups, the result begins with an empty lookahead. goja has
// two regexp engines. The faster engine loses the names of groups and does not support lookaheads.
// The empty lookahead therefore makes goja use the slower engine.
func Expand(pattern string) (string, error) {
	e := expander{pattern: pattern}
	if namedGroup().MatchString(pattern) {
		e.out.WriteString("(?=)")
	}
	for e.pos < len(pattern) {
		if err := e.step(); err != nil {
			return "", err
		}
		if e.out.Len() > MaxExpanded {
			return "", ErrSize
		}
	}
	e.out.WriteString(pattern[e.copied:])
	return e.out.String(), nil
}

// expander contains the state while an expression is expanded.
type expander struct {
	pattern string
	pos     int
	copied  int // the length of the input that has been copied to out
	class   int // the start of the content of the current class; 0 outside of classes
	escaped int // the end of the last escape
	out     strings.Builder
}

func (e *expander) step() error {
	c := e.pattern[e.pos]
	e.pos++
	switch {
	case c == '[' && e.class == 0:
		e.class = e.pos
		if strings.HasPrefix(e.pattern[e.pos:], "^") {
			e.class++
		}
	case c == ']':
		e.class = 0
	case c == '/': // in the member "source", a slash must be escaped
		e.out.WriteString(e.pattern[e.copied:e.pos-1] + `\/`)
		e.copied = e.pos
	case c == '\\' && e.pos < len(e.pattern):
		kind := e.pattern[e.pos]
		if e.pos++; kind == 'p' || kind == 'P' {
			return e.property(kind == 'P')
		}
		e.escaped = e.pos
	}
	return nil
}

// property expands a property. The property's name begins at the current position.
func (e *expander) property(negated bool) error {
	start, escaped := e.pos-len(`\p`), e.escaped
	name, ok := braced(e.pattern[e.pos:])
	if !ok {
		return ErrName
	}
	class, ok := classOf(name, negated)
	if !ok {
		return ErrName
	}
	e.pos += len(name) + len("{}")
	e.out.WriteString(e.pattern[e.copied:start])
	e.copied, e.escaped = e.pos, e.pos
	if e.class == 0 {
		e.out.WriteString("[" + class + "]")
		return nil
	}
	e.out.WriteString(class)
	// A character class cannot be an endpoint of a range.
	before := e.pattern[start-1] == '-' && start-1 > e.class && escaped < start
	rest := e.pattern[e.pos:]
	if before || strings.HasPrefix(rest, "-") && !strings.HasPrefix(rest, "-]") {
		return ErrRange
	}
	return nil
}

// braced returns the content of the braces with which a text begins.
func braced(text string) (string, bool) {
	end := strings.IndexByte(text, '}')
	if end < 2 || text[0] != '{' {
		return "", false
	}
	return text[1:end], true
}
