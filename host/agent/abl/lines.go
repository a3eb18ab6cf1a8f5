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
	// MaxItems is the maximum number of items in each list of a file, such as the list of steps.
	MaxItems = 1000
	// MaxLineBytes is the maximum length of a line.
	MaxLineBytes = 64 << 10
	// maxContinued is the maximum number of further lines on which a value in brackets can
	// continue.
	maxContinued = 200
)

// entry is a line of a file. entry also contains the lines below it that are indented more deeply.
type entry struct {
	num    int // the line number
	indent int // the number of spaces at the start of the line
	dash   bool
	key    string // "" if the line has no key
	keyCol int
	value  Text // the rest of the line, or the text of a block
	block  bool // true if the value is a literal block
	// Only the formatter uses these fields. raw contains the lines of the value. comment is the
	// comment at the end of the line. The field "before" contains the blank lines and the comments
	// that precede the line.
	raw      []string
	comment  string
	before   []string
	children []*entry
	depth    int
}

// The method "at" returns the position of the first character of the entry, after the dash if the
// entry is an item.
func (e *entry) at() Position { return Position{e.num, e.keyCol} }

// The method "is" reports whether the entry has the given key. The case of the key is ignored.
func (e *entry) is(key string) bool { return strings.EqualFold(e.key, key) }

// lineReader splits a file into entries.
type lineReader struct {
	lines    []string
	next     int
	problems problem.List
	before   []string
	tabbed   bool // true if any line is indented with a tab
}

func (r *lineReader) errorf(at Position, code problem.Code, hint, format string, args ...any) {
	const maxProblems = 100
	if len(r.problems) < maxProblems {
		r.problems = append(r.problems, problemAt(at, code, hint, format, args...))
	}
}

// splitLines reads the entries of a file. splitLines also returns the comments and blank lines that
// follow the last entry.
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

// entry reads the next line. If the value on this line continues on further lines, entry also reads
// these lines. For a blank line or a comment, entry returns nil. Blank lines and comments are part
// of the entry that follows them.
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

// value reads the remaining lines of a value that is a literal block or is in brackets.
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

// literal reads the lines of a literal block. All lines of the block are indented more deeply than
// the line with the key.
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

// continued reads the further lines of a value in brackets until the brackets are closed. Each
// further line must be blank, be indented more deeply than the first line, or start with a closing
// bracket.
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

// keyLength returns the length of the key at the start of a line. If the line has no key, the
// result is 0. A colon must follow the key. A space or the end of the line must follow the colon.
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

// scanQuoted calls the function "visit" for each byte that is not in quotes. If this function
// returns false, scanQuoted stops.
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

// cutComment separates a comment from the text that precedes the comment. A comment starts with
// "#", which must follow a space.
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

// openBrackets returns the number of unclosed brackets in a value that starts with a bracket. For
// any other value, openBrackets returns 0, because only a value in brackets can continue on the
// next line.
func openBrackets(s string) int {
	if s == "" || s[0] != '[' && s[0] != '{' {
		return 0
	}
	return bracketDepth(s)
}

// bracketDepth returns the number of opening brackets minus the number of closing brackets. Only
// square brackets and braces that are not in quotes are counted.
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
