package machine

import (
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/toolrun/toolrun/host/problem"
)

// line is a line of a file.
type line struct {
	index      int // in source.lines
	start, end int // the offsets at which the line begins and ends, without the line break
	// text is the line without white space at the beginning and at the end. indent is the number of
	// bytes that precede text.
	text   string
	indent int
	// Only the formatter uses the following fields. The field level is the level of indentation, or
	// -1 if the line is blank or a comment. canonical contains the formatted text. If the formatted
	// text equals the field "text", canonical is "". If verbatim is true, the line begins inside of
	// a text or a comment.
	level     int
	canonical string
	verbatim  bool
}

func (l *line) blank() bool { return l.text == "" || strings.HasPrefix(l.text, "//") }

// source contains the state while a file is read: the lines of the file, the problems that were
// found so far, and the document that was created so far.
type source struct {
	reporter
	text  string
	lines []line
	next  int // the index of the next line
	doc   *Document
}

// split splits the text into lines. If the file cannot be read, the method returns false.
func (r *source) split(src []byte) bool {
	text := strings.ReplaceAll(strings.TrimPrefix(string(src), "\ufeff"), "\r\n", "\n")
	switch {
	case len(src) > MaxFileBytes:
		r.errorf(Position{}, problem.OverLimit, "split the file into several machines", "the file is larger than %d bytes", MaxFileBytes)
		return false
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		r.errorf(Position{}, problem.Syntax, "save the file as UTF-8", "the file is not text in UTF-8")
		return false
	}
	r.text = text
	for start := 0; start <= len(text); {
		end := len(text)
		if n := strings.IndexByte(text[start:], '\n'); n >= 0 {
			end = start + n
		}
		raw := text[start:end]
		content := strings.TrimLeft(raw, " \t\r")
		r.lines = append(r.lines, line{
			index: len(r.lines), start: start, end: end, text: strings.TrimRight(content, " \t\r"), indent: len(raw) - len(content), level: -1,
		})
		start = end + 1
	}
	return true
}

// peek returns the next line that is neither blank nor a comment. At the end of the file, the
// method returns nil.
func (r *source) peek() *line {
	for ; r.next < len(r.lines); r.next++ {
		l := &r.lines[r.next]
		if l.blank() {
			continue
		}
		if !isEnd(l) {
			return l
		}
		r.errorf(r.at(l), problem.UnknownKey, "remove the line; a step or a section ends where the next step or section begins", "the text %q is not a keyword", "end")
	}
	return nil
}

// lineAt returns the line that contains an offset.
func (r *source) lineAt(offset int) *line {
	i := sort.Search(len(r.lines), func(i int) bool { return r.lines[i].start > offset })
	return &r.lines[i-1]
}

// position converts an offset to a position.
func (r *source) position(offset int) Position {
	l := r.lineAt(offset)
	return Position{l.index + 1, utf8.RuneCountInString(r.text[l.start:offset]) + 1}
}

// The method "at" returns the position of the first character of a line.
func (r *source) at(l *line) Position { return Position{l.index + 1, l.indent + 1} }

// name returns a name and the position of the name. The method searches a line for the name and
// begins at an offset.
func (r *source) name(l *line, value string, from int) Name {
	from = min(from, len(l.text))
	at := from + max(strings.Index(l.text[from:], value), 0)
	return Name{r.position(l.start + l.indent + at), value}
}

// take consumes a line that contains keywords, and sets the line's level of indentation.
func (r *source) take(l *line, level int, canonical string) {
	l.level, l.canonical = level, canonical
	r.next = l.index + 1
}

// cutComment splits a line into a text and a comment. A comment begins with "//", and a space must
// precede the "//".
func cutComment(text string) (before, comment string) {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch {
		case quoted && text[i] == '\\':
			i++
		case text[i] == '"':
			quoted = !quoted
		case !quoted && strings.HasPrefix(text[i:], "//") && (i == 0 || text[i-1] == ' ' || text[i-1] == '\t'):
			return strings.TrimRight(text[:i], " \t"), text[i:]
		}
	}
	return text, ""
}

// withComment adds a comment to a formatted line.
func withComment(text, comment string) string {
	if comment == "" {
		return text
	}
	return text + "  " + comment
}

// words separates the comment from a line. In the resulting text, there is one space between words
// and after commas. The function does not change text in quotes.
func words(l *line) (text, comment string) {
	text, comment = cutComment(l.text)
	var b strings.Builder
	quoted := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quoted:
			b.WriteByte(c)
			if c == '\\' && i+1 < len(text) {
				i++
				b.WriteByte(text[i])
			}
			quoted = c != '"'
		case c == ' ' || c == '\t':
			next := strings.TrimLeft(text[i:], " \t")
			if i = len(text) - len(next) - 1; next[0] != ',' {
				b.WriteByte(' ')
			}
		case c == ',' && i+1 < len(text) && strings.IndexByte(", \t", text[i+1]) < 0:
			b.WriteString(", ")
		default:
			quoted = c == '"'
			b.WriteByte(c)
		}
	}
	return b.String(), comment
}
