package property

import (
	"errors"
	"regexp"
	"strings"
)

// MaxExpanded bounds an expanded expression, in bytes. A property has up to 14,000 of them.
const MaxExpanded = 256 << 10

// Errors of Expand, in the words of V8, which guests read.
//
//lint:file-ignore ST1005 the words are those of V8
var (
	ErrName  = errors.New("Invalid property name")
	ErrRange = errors.New("Invalid character class")
	ErrSize  = errors.New("Regular expression too large")
)

// namedGroup begins a group that is named, and not a look behind.
var namedGroup = regexp.MustCompile(`\(\?<[^=!]`)

// Mended reports whether Expand may change an expression of the flag u.
func Mended(pattern string) bool {
	return Used(pattern) || strings.Contains(pattern, "(?<") && namedGroup.MatchString(pattern)
}

// Used reports whether an expression may name a property.
func Used(pattern string) bool {
	return strings.Contains(pattern, `\p`) || strings.Contains(pattern, `\P`)
}

// Expand returns an expression of the flag u with classes in place of the properties that it names. One with named groups
// begins with an empty look ahead: goja loses the names in the faster of its two engines, which has none.
func Expand(pattern string) (string, error) {
	e := expander{pattern: pattern}
	if namedGroup.MatchString(pattern) {
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

// expander goes through an expression.
type expander struct {
	pattern string
	pos     int
	copied  int // what of the pattern is in out
	class   int // where the inside of the current class begins, 0 outside
	escaped int // where the last escape ended
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
	case c == '/': // goja would write it as another escape when it is asked for the source
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

// property replaces the property whose name begins here.
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
	// A class is no end of a range.
	before := e.pattern[start-1] == '-' && start-1 > e.class && escaped < start
	rest := e.pattern[e.pos:]
	if before || strings.HasPrefix(rest, "-") && !strings.HasPrefix(rest, "-]") {
		return ErrRange
	}
	return nil
}

// braced returns what stands between the braces that a text begins with.
func braced(text string) (string, bool) {
	end := strings.IndexByte(text, '}')
	if end < 2 || text[0] != '{' {
		return "", false
	}
	return text[1:end], true
}
