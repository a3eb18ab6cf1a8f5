package abl

import (
	"strings"
	"unicode/utf8"

	"github.com/toolrun/toolrun/host/problem"
)

// Limits of files.
const (
	// MaxFileBytes is the maximum size of a file.
	MaxFileBytes = 1 << 20
	// MaxItems is the maximum number of items of each list in a file, such as the list of steps.
	MaxItems = 1000
	// MaxLineBytes is the maximum length of a line.
	MaxLineBytes = 64 << 10
	// maxContinued is the maximum number of continuation lines of a value in brackets.
	maxContinued = 200
)

// entry is a line of a file, together with the more deeply indented lines below the line.
type entry struct {
	num    int // the line number
	indent int // the number of spaces at the start of the line
	dash   bool
	key    string // "" for a line without a key
	keyCol int
	value  Text // the rest of the line, or the text of a block
	block  bool // true if the value is a literal block
	// Only the formatter uses these fields. raw contains the lines of the value. comment is the
	// comment at the end of the line. The field "before" contains the blank lines and comments
	// before the line.
	raw      []string
	comment  string
	before   []string
	children []*entry
	depth    int
}

// The method "at" returns the position of the first character of the entry. The dash of an item
// does not count as a character.
func (e *entry) at() Position { return Position{e.num, e.keyCol} }

// The method "is" reports whether the entry has a key. The method "is" ignores the case of the key.
func (e *entry) is(key string) bool { return strings.EqualFold(e.key, key) }

// lineReader splits a file into entries.
type lineReader struct {
	lines    []string
	next     int
	problems problem.List
	before   []string
	tabbed   bool // true if a line is indented with a tab
}

func (r *lineReader) errorf(at Position, code problem.Code, hint, format string, args ...any) {
	const maxProblems = 100
	if len(r.problems) < maxProblems {
		r.problems = append(r.problems, problemAt(at, code, hint, format, args...))
	}
}

// splitLines reads the entries of a file, and the comments and blank lines after the last entry.
func splitLines(src []byte) (entries []*entry, after []string, problems problem.List) {
	r := &lineReader{}
	text := strings.TrimPrefix(string(src), "\ufeff")
	switch {
	case len(src) > MaxFileBytes:
		r.errorf(Position{}, problem.OverLimit, "split the file into several agents", "the file is larger than %d bytes", MaxFileBytes)
		return nil, nil, r.problems
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		r.errorf(Position{}, problem.Syntax, "save the file as UTF-8", "the file is not text in UTF-8")
		return nil, nil, r.problems
	}
	r.lines = strings.Split(text, "\n")
	for i, line := range r.lines {
		if len(line) > MaxLineBytes {
			r.errorf(Position{i + 1, 1}, problem.OverLimit, "split it", "the line is longer than %d bytes", MaxLineBytes)
			return nil, nil, r.problems
		}
	}
	for r.next < len(r.lines) {
		if e := r.entry(); e != nil {
			entries = append(entries, e)
		}
	}
	return entries, r.before, r.problems
}

// entry reads the next line and the lines that belong to the value on this line. entry returns nil
// for a blank line or a comment. Blank lines and comments belong to the entry that follows them.
func (r *lineReader) entry() *entry {
	line := strings.TrimRight(r.lines[r.next], " \t\r")
	content := strings.TrimLeft(line, " \t")
	indent := len(line) - len(content)
	r.next++
	if content == "" || content[0] == '#' {
		r.before = append(r.before, content)
		return nil
	}
	e := &entry{num: r.next, indent: indent, keyCol: indent + 1, before: r.before}
	r.before = nil
	if tab := strings.IndexByte(line[:indent], '\t'); tab >= 0 && !r.tabbed {
		r.tabbed = true
		r.errorf(Position{e.num, tab + 1}, problem.Indentation, "indent with two spaces, on every line", "the line is indented with a tab")
	}
	if content == "-" || strings.HasPrefix(content, "- ") || strings.HasPrefix(content, "-\t") {
		e.dash = true
		rest := strings.TrimLeft(content[1:], " \t")
		e.keyCol += len(content) - len(rest)
		content = rest
	}
	content, e.comment = cutComment(content)
	valueCol := e.keyCol
	if n := keyLength(content); n > 0 {
		e.key = content[:n]
		rest := strings.TrimLeft(content[n+1:], " \t")
		valueCol += utf8.RuneCountInString(content[:len(content)-len(rest)])
		content = rest
	}
	e.value = Text{Position: Position{e.num, valueCol}, Value: content, Indent: indent}
	e.raw = []string{content}
	r.value(e)
	return e
}

// value reads the remaining lines of a literal block or of a value in brackets.
func (r *lineReader) value(e *entry) {
	switch v := e.value.Value; {
	case e.key == "":
		if openBrackets(v) > 0 {
			r.continued(e)
		}
	case v == "|" || v == "|-" || v == "|+":
		r.literal(e)
	case v == ">" || v == ">-" || v == ">+":
		r.errorf(e.value.Position, problem.Syntax, "write `|` instead of `>` to keep the line breaks", "a folded block is not supported")
		r.literal(e)
	case openBrackets(v) > 0:
		r.continued(e)
	}
}

// The method "literal" reads the lines of a literal block. The lines of the block are indented more
// deeply than the key.
func (r *lineReader) literal(e *entry) {
	var lines []string
	margin := -1
	for ; r.next < len(r.lines); r.next++ {
		line := strings.TrimRight(r.lines[r.next], " \t\r")
		indent := len(line) - len(strings.TrimLeft(line, " "))
		if line != "" && indent < e.keyCol {
			break
		}
		if line != "" && (margin < 0 || indent < margin) {
			margin = indent
		}
		lines = append(lines, line)
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
		r.next--
	}
	e.block = true
	for i, line := range lines {
		if line != "" {
			lines[i] = line[margin:]
		}
	}
	e.raw = lines
	if len(lines) == 0 {
		r.errorf(e.value.Position, problem.Syntax, "indent the text deeper than its key", "the text block is empty")
		e.value.Value = ""
		return
	}
	e.value = Text{Position: Position{e.num + 1, margin + 1}, Value: strings.Join(lines, "\n"), Indent: margin}
}

// continued reads further lines of a value until the brackets of the value are closed. A further
// line is indented more deeply than the first line, or starts with a closing bracket.
func (r *lineReader) continued(e *entry) {
	start, depth := r.next, openBrackets(e.value.Value)
	parts, raw := []string{e.value.Value}, e.raw
	for r.next < len(r.lines) && r.next-start < maxContinued {
		line := strings.TrimRight(r.lines[r.next], " \t\r")
		text, _ := cutComment(line)
		content := strings.TrimLeft(line, " \t")
		if content != "" && len(line)-len(content) <= e.indent && content[0] != ']' && content[0] != '}' {
			break
		}
		r.next++
		parts, raw = append(parts, text), append(raw, content)
		if depth += bracketDepth(text); depth <= 0 {
			e.value.Value, e.value.Indent, e.raw = strings.Join(parts, "\n"), 0, raw
			return
		}
	}
	r.next = start
	r.errorf(e.value.Position, problem.Syntax, "close every bracket", "the value has a bracket that is not closed")
}

// keyLength returns the length of the key at the start of a line, or 0. A key is followed by a
// colon and a space or the end of the line.
func keyLength(s string) int {
	for i, r := range s {
		switch {
		case r == ':' && i > 0 && (i+1 == len(s) || s[i+1] == ' ' || s[i+1] == '\t'):
			return i
		case i == 0 && !isNameStart(r), !isNamePart(r) && r != '.' && r != '-':
			return 0
		}
	}
	return 0
}

// scanQuoted calls visit for each byte outside of quotes, until visit returns false.
func scanQuoted(s string, visit func(i int) bool) {
	quote := byte(0)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case quote != 0 && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case (c == '"' || c == '\'') && !(i > 0 && isNamePart(rune(s[i-1]))): // not an apostrophe
			quote = c
		default:
			if !visit(i) {
				return
			}
		}
	}
}

// cutComment separates a comment from the text before the comment. A comment starts with "#" after
// a space.
func cutComment(s string) (text, comment string) {
	text = s
	scanQuoted(s, func(i int) bool {
		if s[i] != '#' || i > 0 && s[i-1] != ' ' && s[i-1] != '\t' {
			return true
		}
		text, comment = strings.TrimRight(s[:i], " \t"), s[i:]
		return false
	})
	return text, comment
}

// openBrackets returns the number of unclosed brackets in a value that starts with a bracket.
// openBrackets returns 0 for a value that does not start with a bracket, because only a value in
// brackets can continue on the next line.
func openBrackets(s string) int {
	if s == "" || s[0] != '[' && s[0] != '{' {
		return 0
	}
	return bracketDepth(s)
}

// bracketDepth returns the number of opening brackets minus the number of closing brackets.
// bracketDepth counts square brackets and braces outside of quotes.
func bracketDepth(s string) int {
	depth := 0
	scanQuoted(s, func(i int) bool {
		switch s[i] {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		}
		return true
	})
	return depth
}
