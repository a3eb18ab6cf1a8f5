package abl

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolrun/toolrun/host/problem"
)

type tokenKind uint8

const (
	tokenEnd tokenKind = iota
	tokenName
	tokenNumber
	tokenString
	tokenSymbol
)

// token is a part of an expression, such as a name, a number or an operator.
type token struct {
	kind       tokenKind
	text       string // a name, a symbol, or the content of a string
	number     float64
	start, end int // byte offsets
}

// The method "is" reports whether the token is a keyword or a symbol. The case of a keyword is
// ignored.
func (t token) is(word string) bool {
	switch t.kind {
	case tokenName:
		return strings.EqualFold(t.text, word)
	case tokenSymbol:
		return t.text == word
	default:
		return false
	}
}

// describe returns the text of the token, for use in a message.
func (t token) describe() string {
	switch t.kind {
	case tokenEnd:
		return "the end"
	case tokenString:
		return "the text " + problem.Quote(t.text)
	default:
		return problem.Quote(t.text)
	}
}

// symbols contains the operators and brackets. The longer symbols precede the shorter symbols.
var symbols = []string{
	"===", "!==", "==", "!=", "<=", ">=", "&&", "||", "->", "=>",
	"(", ")", "[", "]", "{", "}", ",", ":", ".", "?", "<", ">", "!", "+", "-", "*", "/", "%", "=",
}

// lexer splits an expression into tokens.
type lexer struct {
	text Text
	at   bool // true if a name can start with "@", as in templates
	pos  int
}

func (l *lexer) problem(offset int, hint, format string, args ...any) *problem.Problem {
	p := problemAt(l.text.at(offset), problem.Syntax, hint, format, args...)
	return &p
}

func (l *lexer) next() (token, *problem.Problem) {
	s := l.text.Value
	for l.pos < len(s) && strings.IndexByte(" \t\r\n", s[l.pos]) >= 0 {
		l.pos++
	}
	if l.pos >= len(s) {
		return token{kind: tokenEnd, start: l.pos, end: l.pos}, nil
	}
	r, _ := utf8.DecodeRuneInString(s[l.pos:])
	switch {
	case r >= '0' && r <= '9':
		return l.numberToken()
	case r == '"' || r == '\'':
		return l.stringToken()
	case isNameStart(r) || r == '@' && l.at:
		return l.nameToken(), nil
	}
	for _, symbol := range symbols {
		if strings.HasPrefix(s[l.pos:], symbol) {
			t := token{kind: tokenSymbol, text: symbol, start: l.pos, end: l.pos + len(symbol)}
			l.pos = t.end
			return t, nil
		}
	}
	if r == '“' || r == '”' || r == '‘' || r == '’' {
		return token{}, l.problem(l.pos, `write straight quotes: "text"`, "the quote %q is not a straight quote", string(r))
	}
	return token{}, l.problem(l.pos, "", "unexpected character %q", string(r))
}

func isNameStart(r rune) bool { return r == '_' || unicode.IsLetter(r) }

func isNamePart(r rune) bool { return isNameStart(r) || unicode.IsDigit(r) }

func (l *lexer) nameToken() token {
	start := l.pos
	_, size := utf8.DecodeRuneInString(l.text.Value[start:])
	for l.pos += size; l.pos < len(l.text.Value); l.pos += size {
		var r rune
		if r, size = utf8.DecodeRuneInString(l.text.Value[l.pos:]); !isNamePart(r) {
			break
		}
	}
	return token{kind: tokenName, text: l.text.Value[start:l.pos], start: start, end: l.pos}
}

func (l *lexer) numberToken() (token, *problem.Problem) {
	s, start := l.text.Value, l.pos
	end := start + numberLength(s[start:])
	if r, _ := utf8.DecodeRuneInString(s[end:]); end < len(s) && isNamePart(r) {
		return token{}, l.problem(start, `a name starts with a letter; a duration is quoted text such as "90d"`, "the text %s is not a number", problem.Quote(word(s[start:])))
	}
	n, err := strconv.ParseFloat(s[start:end], 64)
	if err != nil {
		return token{}, l.problem(start, "", "the number %s is too large", problem.Quote(s[start:end]))
	}
	l.pos = end
	return token{kind: tokenNumber, text: s[start:end], number: n, start: start, end: end}, nil
}

// word returns the letters and digits at the start of a text.
func word(text string) string {
	if i := strings.IndexFunc(text, func(r rune) bool { return !isNamePart(r) }); i >= 0 {
		return text[:i]
	}
	return text
}

// numberLength returns the length of the unsigned decimal number at the start of the argument "s".
// The number consists of digits, and can have a fraction and an exponent.
func numberLength(s string) int {
	n := digits(s)
	if n == 0 {
		return 0
	}
	if n < len(s) && s[n] == '.' {
		if d := digits(s[n+1:]); d > 0 {
			n += 1 + d
		}
	}
	if n < len(s) && (s[n] == 'e' || s[n] == 'E') {
		sign := 0
		if n+1 < len(s) && (s[n+1] == '+' || s[n+1] == '-') {
			sign = 1
		}
		if d := digits(s[n+1+sign:]); d > 0 {
			n += 1 + sign + d
		}
	}
	return n
}

func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// stringToken reads a quoted string. The backslash of an unknown escape is kept. Therefore, authors
// can write regular expressions without doubling the backslashes.
func (l *lexer) stringToken() (token, *problem.Problem) {
	s, start := l.text.Value, l.pos
	var b strings.Builder
	for i := start + 1; i < len(s); {
		switch c := s[i]; {
		case c == '\n':
			return token{}, l.problem(start, "close the text with "+s[start:start+1], "the quoted text is not closed on its line")
		case c == s[start]:
			l.pos = i + 1
			return token{kind: tokenString, text: b.String(), start: start, end: l.pos}, nil
		case c == '\\' && i+1 < len(s):
			i += unescape(&b, s[i:])
		default:
			b.WriteByte(c)
			i++
		}
	}
	return token{}, l.problem(start, "close the text with "+s[start:start+1], "the quoted text is not closed")
}

var escapes = map[byte]string{'n': "\n", 't': "\t", 'r': "\r", '"': `"`, '\'': "'", '\\': `\`, '/': "/"}

// unescape reads the escape sequence at the start of s. unescape writes the character that the
// sequence represents, and returns the length of the sequence.
func unescape(b *strings.Builder, s string) int {
	if text, ok := escapes[s[1]]; ok {
		b.WriteString(text)
		return 2
	}
	if s[1] == 'u' && len(s) >= 6 {
		if n, err := strconv.ParseUint(s[2:6], 16, 16); err == nil {
			b.WriteRune(rune(n)) // a surrogate becomes U+FFFD
			return 6
		}
	}
	b.WriteString(s[:1])
	return 1
}
