package bundle

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind is the kind of a token.
type kind uint8

const (
	end     kind = iota
	word         // an identifier or a keyword
	literal      // a number, a string or the last part of a template
	pattern      // a regular expression
	punct
)

// token is one token of a source.
type token struct {
	kind       kind
	start, end int
	newline    bool // a line break precedes the token
	member     bool // a word after a dot, which is the name of a property
}

// lexer splits JavaScript or TypeScript into tokens. The caller decides whether a slash is a
// division or begins a regular expression. The caller also decides whether a brace ends a
// substitution in a template.
type lexer struct {
	src string
	pos int
}

// space skips white space and comments. The method reports whether the skipped text contains a line
// break.
func (l *lexer) space() (newline bool) {
	for l.pos < len(l.src) {
		r, size := utf8.DecodeRuneInString(l.src[l.pos:])
		switch {
		case isLineEnd(r):
			newline = true
			l.pos += size
		case r == '\uFEFF' || unicode.IsSpace(r):
			l.pos += size
		case l.has("//") || l.pos == 0 && l.has("#!"):
			l.line()
		case l.has("/*"):
			newline = l.block() || newline
		default:
			return newline
		}
	}
	return newline
}

func (l *lexer) has(prefix string) bool { return strings.HasPrefix(l.src[l.pos:], prefix) }

// line skips the rest of the line.
func (l *lexer) line() {
	if n := strings.IndexFunc(l.src[l.pos:], isLineEnd); n >= 0 {
		l.pos += n
		return
	}
	l.pos = len(l.src)
}

// block skips a /* */ comment. The method reports whether the comment contains a line break.
func (l *lexer) block() bool {
	n := strings.Index(l.src[l.pos+2:], "*/")
	if n < 0 {
		l.pos = len(l.src)
		return true
	}
	text := l.src[l.pos+2 : l.pos+2+n]
	l.pos += n + 4
	return strings.IndexFunc(text, isLineEnd) >= 0
}

// The method "next" reads a token. If the token begins with a slash, the method calls the function
// "divides", which reports whether the slash is a division. The argument reports whether a line
// break precedes the slash.
func (l *lexer) next(divides func(newline bool) bool) token {
	t := token{newline: l.space(), start: l.pos, kind: punct}
	if l.pos == len(l.src) {
		t.kind, t.end = end, l.pos
		return t
	}
	switch c := l.src[l.pos]; {
	case isWordByte(c) && !isDigit(c):
		t.kind = word
		l.word()
	case isDigit(c), c == '.' && l.pos+1 < len(l.src) && isDigit(l.src[l.pos+1]):
		t.kind = literal
		for l.pos < len(l.src) && (isWordByte(l.src[l.pos]) || l.src[l.pos] == '.') {
			l.pos++
		}
	case c == '"' || c == '\'':
		t.kind = literal
		l.quoted(c)
	case c == '/' && !divides(t.newline) && l.regexp():
		t.kind = pattern
	default:
		l.pos += operatorLength(l.src[l.pos:])
	}
	t.end = l.pos
	return t
}

func (l *lexer) word() {
	for l.pos < len(l.src) {
		r, size := utf8.DecodeRuneInString(l.src[l.pos:])
		if r < utf8.RuneSelf && !isWordByte(byte(r)) || r == '\uFEFF' || unicode.IsSpace(r) || isLineEnd(r) {
			return
		}
		l.pos += size
	}
}

// quoted skips a string. An unterminated string ends at the end of the line. The parser later
// reports the error.
func (l *lexer) quoted(quote byte) {
	for l.pos++; l.pos < len(l.src); l.pos++ {
		switch l.src[l.pos] {
		case quote:
			l.pos++
			return
		case '\n', '\r':
			return
		case '\\':
			if l.pos++; l.has("\r\n") {
				l.pos++
			}
		}
	}
	l.pos = len(l.src)
}

// template skips text of a template up to a substitution or to the end of the template. The method
// reports whether a substitution follows.
func (l *lexer) template() (substitution bool) {
	for ; l.pos < len(l.src); l.pos++ {
		switch {
		case l.src[l.pos] == '`':
			l.pos++
			return false
		case l.has("${"):
			l.pos += 2
			return true
		case l.src[l.pos] == '\\':
			l.pos++
		}
	}
	l.pos = len(l.src)
	return false
}

// regexp skips a regular expression with its flags. If the line ends before the expression does,
// regexp returns false and skips nothing.
func (l *lexer) regexp() bool {
	class := false
	for i := l.pos + 1; i < len(l.src); i++ {
		r, _ := utf8.DecodeRuneInString(l.src[i:])
		switch {
		case isLineEnd(r):
			return false
		case r == '\\':
			if i++; i < len(l.src) && (l.src[i] == '\n' || l.src[i] == '\r') {
				return false
			}
		case r == '[':
			class = true
		case r == ']':
			class = false
		case r == '/' && !class:
			for i++; i < len(l.src) && isWordByte(l.src[i]); i++ {
			}
			l.pos = i
			return true
		}
	}
	return false
}

// operatorLength returns the length of the operator at the start of s. operatorLength recognizes
// only the operators that matter to a scan and treats all others as single characters.
func operatorLength(s string) int {
	for _, op := range [...]string{"...", "=>", "++", "--", "??", "?."} {
		if strings.HasPrefix(s, op) && !(op == "?." && len(s) > 2 && isDigit(s[2])) {
			return len(op)
		}
	}
	_, size := utf8.DecodeRuneInString(s)
	return size
}

func isLineEnd(r rune) bool { return r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isWordByte reports whether c can be part of an identifier. The bytes of non-ASCII characters and
// the backslash of an escape are included.
func isWordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || isDigit(c) || c == '_' || c == '$' || c == '#' || c == '\\' || c >= utf8.RuneSelf
}
