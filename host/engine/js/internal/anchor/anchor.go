// Package anchor rewrites the assertions of JavaScript's regular expressions that goja reads in another way.
//
// With the flag m goja ends a line at \n only, where the language also ends it at \r, U+2028 and U+2029. \b and \B take
// letters outside of ASCII for characters of a word as soon as the text holds one.
package anchor

import "strings"

// What the assertions mean, in terms that goja reads as the language does.
const (
	lineStart = `(?<![^\n\r\u2028\u2029])`
	lineEnd   = `(?![^\n\r\u2028\u2029])`

	wordStart = `(?<!\w)` // if a character of a word follows
	wordEnd   = `(?!\w)`  // if one precedes
	boundary  = `(?:(?<!\w)(?=\w)|(?<=\w)(?!\w))`
	inside    = `(?:(?<=\w)(?=\w)|(?<!\w)(?!\w))`
)

// Used reports whether Rewrite may change an expression.
func Used(pattern, flags string) bool {
	return strings.Contains(pattern, `\b`) || strings.Contains(pattern, `\B`) ||
		strings.Contains(flags, "m") && strings.ContainsAny(pattern, "^$")
}

// Rewrite returns an expression that matches for goja what the given one matches by the language. It returns what is not
// an expression as it is.
func Rewrite(pattern, flags string) string {
	r := rewriter{pattern: pattern, lines: strings.Contains(flags, "m")}
	for r.pos < len(pattern) {
		r.step()
	}
	r.out.WriteString(pattern[r.copied:])
	return r.out.String()
}

// rewriter goes through an expression.
type rewriter struct {
	pattern string
	lines   bool // the flag m is set
	pos     int
	copied  int // how much of the pattern is in out
	out     strings.Builder

	inClass bool
	word    bool // what was matched last is a character of a word
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
	case c == '/': // goja would write it as another escape if it is asked for the source
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

// put writes text in the place of what was read since start.
func (r *rewriter) put(start int, text string) {
	r.out.WriteString(r.pattern[r.copied:start])
	r.out.WriteString(text)
	r.copied = r.pos
}

// wordAssertion returns what \b or \B stands for, in the shortest form: goja takes the long one for slow.
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

// wordFollows reports whether the next thing to match is one or more characters of a word.
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

// skipWords goes over the rest of an escape, such as that of \x41, and over letters after it.
func (r *rewriter) skipWords() {
	for r.pos < len(r.pattern) && isWord(r.pattern[r.pos]) {
		r.pos++
	}
}

// skipGroupHead goes over what follows the parenthesis of a group: ?:, ?=, ?<! or a name.
func (r *rewriter) skipGroupHead() {
	r.pos++
	if rest := r.pattern[r.pos:]; !strings.HasPrefix(rest, "<=") && !strings.HasPrefix(rest, "<!") {
		r.skipName()
	}
}

// skipName goes over a name in angle brackets, which may hold a $.
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
