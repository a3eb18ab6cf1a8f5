// Package anchor rewrites assertions in JavaScript regular expressions that goja interprets
// differently.
//
// With the flag m, goja ends a line only at \n, but JavaScript also ends a line at \r, U+2028 and
// U+2029. For \b and \B, goja counts non-ASCII letters as word characters, but JavaScript does not.
package anchor

import "strings"

// The replacements for assertions. In goja, each replacement has the meaning that the assertion has
// in JavaScript.
const (
	lineStart = `(?<![^\n\r\u2028\u2029])`
	lineEnd   = `(?![^\n\r\u2028\u2029])`

	wordStart = `(?<!\w)` // replaces a \b before a word character
	wordEnd   = `(?!\w)`  // replaces a \b after a word character
	boundary  = `(?:(?<!\w)(?=\w)|(?<=\w)(?!\w))`
	inside    = `(?:(?<=\w)(?=\w)|(?<!\w)(?!\w))`
)

// Used reports whether Rewrite might change an expression.
func Used(pattern, flags string) bool {
	return strings.Contains(pattern, `\b`) || strings.Contains(pattern, `\B`) ||
		strings.Contains(flags, "m") && strings.ContainsAny(pattern, "^$")
}

// Rewrite translates a JavaScript regular expression for goja. With the translated expression, goja
// finds the same matches as JavaScript. If the expression is invalid, Rewrite returns it unchanged.
func Rewrite(pattern, flags string) string {
	r := rewriter{pattern: pattern, lines: strings.Contains(flags, "m")}
	for r.pos < len(pattern) {
		r.step()
	}
	r.out.WriteString(pattern[r.copied:])
	return r.out.String()
}

// rewriter contains the state while an expression is rewritten.
type rewriter struct {
	pattern string
	lines   bool // true if the flag m is set
	pos     int
	copied  int // the length of the input that has been copied to out
	out     strings.Builder

	inClass bool
	word    bool // true if the last term matches a word character
}

func (r *rewriter) step() {
	word := r.word
	start, c := r.pos, r.pattern[r.pos]
	r.pos++
	r.word = !r.inClass && (isWord(c) || c == '+' && word)
	switch {
	case c == '\\' && r.pos < len(r.pattern):
		kind := r.pattern[r.pos]
		r.pos++
		r.word = !r.inClass && (kind == 'w' || kind == 'd')
		if !r.inClass && (kind == 'b' || kind == 'B') {
			r.put(start, r.wordAssertion(kind, word))
		} else if kind == 'k' {
			r.skipName()
		} else if kind == 'c' || kind == 'x' || kind == 'u' || isDigit(kind) {
			r.skipWords()
		}
	case c == '/': // in the member "source", a slash must be escaped
		r.put(start, `\/`)
	case r.inClass:
		r.inClass = c != ']'
	case c == '[':
		r.inClass = true
	case c == '(' && strings.HasPrefix(r.pattern[r.pos:], "?"):
		r.skipGroupHead()
	case c == '^' && r.lines:
		r.put(start, lineStart)
	case c == '$' && r.lines:
		r.put(start, lineEnd)
	}
}

// put replaces the input from start to the current position with text.
func (r *rewriter) put(start int, text string) {
	r.out.WriteString(r.pattern[r.copied:start])
	r.out.WriteString(text)
	r.copied = r.pos
}

// wordAssertion returns the shortest replacement for \b or \B, because goja executes long patterns
// slowly.
func (r *rewriter) wordAssertion(kind byte, afterWord bool) string {
	switch {
	case kind == 'B':
		return inside
	case afterWord:
		return wordEnd
	case r.wordFollows():
		return wordStart
	}
	return boundary
}

// wordFollows reports whether the next term matches at least one word character.
func (r *rewriter) wordFollows() bool {
	rest := r.pattern[r.pos:]
	switch {
	case strings.HasPrefix(rest, `\w`) || strings.HasPrefix(rest, `\d`):
		rest = rest[2:]
	case rest != "" && isWord(rest[0]):
		rest = rest[1:]
	default:
		return false
	}
	return rest == "" || !strings.ContainsRune("?*{", rune(rest[0]))
}

// skipWords skips the rest of an escape, such as \x41, and the letters after the escape.
func (r *rewriter) skipWords() {
	for r.pos < len(r.pattern) && isWord(r.pattern[r.pos]) {
		r.pos++
	}
}

// skipGroupHead skips the characters that can follow a group's opening parenthesis: ?:, ?=, ?<! or
// a name.
func (r *rewriter) skipGroupHead() {
	r.pos++
	if rest := r.pattern[r.pos:]; !strings.HasPrefix(rest, "<=") && !strings.HasPrefix(rest, "<!") {
		r.skipName()
	}
}

// skipName skips a name in angle brackets. The name can contain a $.
func (r *rewriter) skipName() {
	if strings.HasPrefix(r.pattern[r.pos:], "<") {
		if end := strings.IndexByte(r.pattern[r.pos:], '>'); end >= 0 {
			r.pos += end
		}
	}
}

func isWord(c byte) bool {
	return c == '_' || isDigit(c) || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
