package machine

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// tokenKind is the kind of a token of JavaScript.
type tokenKind uint8

const (
	endToken tokenKind = iota
	wordToken
	valueToken // a number, a string, a part of a template or a regular expression
	punctToken
)

type token struct {
	kind       tokenKind
	start, end int
}

// bracket is an open bracket. A template counts as a bracket, and so does a substitution in a
// template.
type bracket struct {
	open byte // an opening bracket, or the quote of the template
	// outer is the level of the line that contains the bracket.
	outer int
	start int
}

// scanner splits JavaScript code into tokens. scanner tracks the open brackets.
type scanner struct {
	src string
	pos int
	// interpolate is true if strings in double quotes are templates. This is the case in the
	// settings of steps.
	interpolate bool
	brackets    []bracket
	level       int // the level of the current line; the caller sets it
	// The function "inside" is called with the start and the end of each block comment. It can be
	// nil.
	inside func(start, end int)
	prev   token
	// pieces contains the parts of templates that are written in double quotes. The parts are in
	// the order of the source.
	pieces []piece
	// If the scanner cannot continue, failure describes the reason, and failedAt is the offset.
	// Otherwise, failure is "".
	failure, hint string
	failedAt      int
	// slashes is the number of slashes that began no regular expression on the line that ends at
	// slashesEnd.
	slashes, slashesEnd int
}

func (s *scanner) fail(at int, hint, failure string) {
	if s.failure == "" {
		s.failure, s.hint, s.failedAt = failure, hint, at
	}
}

func (s *scanner) has(prefix string) bool { return strings.HasPrefix(s.src[s.pos:], prefix) }

// space skips white space and comments.
func (s *scanner) space() {
	for s.pos < len(s.src) {
		r, size := utf8.DecodeRuneInString(s.src[s.pos:])
		switch {
		case r == '\uFEFF' || unicode.IsSpace(r):
			s.pos += size
		case s.has("//"):
			s.skipTo("\n", 0)
		case s.has("/*"):
			s.comment()
		default:
			return
		}
	}
}

// skipTo skips the text that precedes the next occurrence of the argument "end". Then skipTo skips
// n bytes.
func (s *scanner) skipTo(end string, n int) bool {
	at := strings.Index(s.src[s.pos:], end)
	if at < 0 {
		s.pos = len(s.src)
		return false
	}
	s.pos += at + n
	return true
}

func (s *scanner) comment() {
	start := s.pos
	s.pos += 2
	if !s.skipTo("*/", 2) {
		s.fail(start, "close the comment with */", "the comment is not closed")
	}
	if s.inside != nil {
		s.inside(start, s.pos)
	}
}

// The method "next" reads a token. Before each call, the caller must call the method "space". After
// a failure, the method "next" returns the token for the end of the code.
func (s *scanner) next() token {
	t := token{kind: punctToken, start: s.pos}
	if s.pos >= len(s.src) || s.failure != "" {
		t.kind, t.end = endToken, s.pos
		return t
	}
	switch c := s.src[s.pos]; {
	case isWordByte(c) && !isDigit(c):
		t.kind = wordToken
		s.skipWhile(isWordByte)
	case isDigit(c), c == '.' && s.pos+1 < len(s.src) && isDigit(s.src[s.pos+1]):
		t.kind = valueToken
		s.skipWhile(func(c byte) bool { return isWordByte(c) || c == '.' })
	case c == '`', c == '"' && s.interpolate:
		t.kind = valueToken
		s.pos++
		s.template(c, t.start)
	case c == '\'' || c == '"':
		t.kind = valueToken
		s.quoted(c)
	case c == '/' && !s.afterOperand() && s.pattern():
		t.kind = valueToken
	default:
		t.kind = s.punct(c)
	}
	t.end = s.pos
	s.prev = t
	return t
}

func (s *scanner) skipWhile(member func(byte) bool) {
	for s.pos < len(s.src) && member(s.src[s.pos]) {
		s.pos++
	}
}

// punct reads a bracket or one character of an operator. A brace can end a substitution, and the
// text of the template follows.
func (s *scanner) punct(c byte) tokenKind {
	start := s.pos
	_, size := utf8.DecodeRuneInString(s.src[s.pos:])
	s.pos += size
	switch c {
	case '(', '[', '{':
		s.open(c, start)
	case ')', ']', '}':
		return s.close(c, start)
	case '=':
		if s.pos < len(s.src) && s.src[s.pos] == '>' {
			s.pos++
		}
	}
	return punctToken
}

func (s *scanner) open(c byte, start int) {
	if len(s.brackets) >= MaxNesting {
		s.fail(start, "", "the brackets are nested too deeply")
		return
	}
	s.brackets = append(s.brackets, bracket{open: c, outer: s.level, start: start})
}

var closing = map[byte]byte{'(': ')', '[': ']', '{': '}', '`': '}', '"': '}'}

func (s *scanner) close(c byte, start int) tokenKind {
	n := len(s.brackets) - 1
	if n < 0 || closing[s.brackets[n].open] != c {
		s.fail(start, "remove the bracket, or write the opening bracket", "the bracket "+string(c)+" has no counterpart")
		return punctToken
	}
	top := s.brackets[n]
	s.brackets = s.brackets[:n]
	if top.open == '`' || top.open == '"' {
		s.template(top.open, start)
		return valueToken
	}
	return punctToken
}

// piece is a part of a template between substitutions, with its quotes and without the braces of the
// substitutions.
type piece struct {
	start, end int
	// opens and closes report whether the part begins and ends with a quote.
	opens, closes bool
}

// template reads the text of a template to its end or to the next substitution. The argument start
// is the offset of the quote or the brace before the text.
func (s *scanner) template(quote byte, start int) {
	for s.pos < len(s.src) {
		switch c := s.src[s.pos]; {
		case c == quote:
			s.pos++
			s.addPiece(quote, start, s.pos, true)
			return
		case s.has("${"):
			s.addPiece(quote, start, s.pos, false)
			s.pos += 2
			s.open(quote, s.pos-1)
			return
		case c == '\\':
			s.pos++
		case c == '\n' && quote == '"':
			s.fail(start, `close the string with " on the same line`, "the string is not closed")
			return
		}
		s.pos++
	}
	s.pos = len(s.src)
	s.fail(start, "", "the string is not closed")
}

func (s *scanner) addPiece(quote byte, start, end int, closes bool) {
	if quote == '"' {
		s.pieces = append(s.pieces, piece{start: start, end: end, opens: s.src[start] == quote, closes: closes})
	}
}

// quoted reads a string.
func (s *scanner) quoted(quote byte) {
	start := s.pos
	for s.pos++; s.pos < len(s.src) && s.src[s.pos] != '\n'; s.pos++ {
		switch s.src[s.pos] {
		case quote:
			s.pos++
			return
		case '\\':
			s.pos++
		}
	}
	s.pos = min(s.pos, len(s.src))
	s.fail(start, "close the string on the same line", "the string is not closed")
}

// maxSlashes is the maximum number of failed attempts to read a regular expression in one line. Each
// attempt can read the whole line.
const maxSlashes = 16

// pattern reads a regular expression. If no regular expression ends on this line, pattern reads
// nothing and returns false.
func (s *scanner) pattern() bool {
	if s.pos >= s.slashesEnd {
		s.slashes = 0
	}
	if s.slashes == maxSlashes {
		return false
	}
	class, i := false, s.pos+1
	for ; i < len(s.src) && s.src[i] != '\n'; i++ {
		switch c := s.src[i]; {
		case c == '\\':
			i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			s.pos = i + 1
			s.skipWhile(isWordByte)
			return true
		}
	}
	s.slashes, s.slashesEnd = s.slashes+1, i
	return false
}

// beforeOperand contains the keywords that are followed by an operand.
var beforeOperand = map[string]bool{
	"return": true, "typeof": true, "case": true, "in": true, "of": true, "delete": true, "void": true,
	"throw": true, "new": true, "else": true, "do": true, "instanceof": true, "await": true, "yield": true,
}

// afterOperand reports whether the last token ends an operand, so that a slash is a division.
func (s *scanner) afterOperand() bool {
	text := s.src[s.prev.start:s.prev.end]
	switch s.prev.kind {
	case wordToken:
		return !beforeOperand[text]
	case valueToken:
		return true
	case punctToken:
		return text == ")" || text == "]" || text == "}"
	}
	return false
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isWordByte reports whether c can be part of an identifier. The bytes of non-ASCII characters are
// included.
func isWordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || isDigit(c) || c == '_' || c == '$' || c == '#' || c >= utf8.RuneSelf
}

// interpolated reports whether a text contains a substitution.
func interpolated(text string) bool { return strings.Contains(text, "${") }
