package machine

import (
	"strings"

	"github.com/toolrun/toolrun/host/problem"
)

// Format returns a file with uniform indentation and spacing. The result has the same meaning and
// the same comments as the file, and its lines are in the same order. If the result is formatted
// again, it does not change. If the file has a syntax error, Format returns an error of type
// problem.List.
func Format(file string, src []byte) ([]byte, error) {
	r := read(file, src)
	var errs problem.List
	for _, p := range r.problems {
		if p.Code == problem.Syntax || p.Code == problem.OverLimit || p.Code == problem.UnknownKey {
			errs = append(errs, p)
		}
	}
	if err := errs.Sorted().Err(); err != nil {
		return nil, err
	}
	r.commentLevels()
	var out strings.Builder
	blank := true // true if the last line is blank; initially true, to omit blank lines at the start
	for i := range r.lines {
		l := &r.lines[i]
		if !l.verbatim && l.text == "" {
			if !blank && i+1 < len(r.lines) {
				out.WriteByte('\n')
			}
			blank = true
			continue
		}
		blank = false
		out.WriteString(r.formatted(l) + "\n")
	}
	return []byte(strings.TrimRight(out.String(), "\n") + "\n"), nil
}

// commentLevels gives each comment the level of the line that follows the comment.
func (r *source) commentLevels() {
	level := 0
	for i := len(r.lines) - 1; i >= 0; i-- {
		switch l := &r.lines[i]; {
		case l.level >= 0:
			level = l.level
		case !l.verbatim:
			l.level = level
		}
	}
}

// formatted returns the formatted text of a line.
func (r *source) formatted(l *line) string {
	if l.verbatim {
		return r.text[l.start:l.end]
	}
	text := l.text
	if l.canonical != "" {
		text = l.canonical
	}
	if next := l.index + 1; next < len(r.lines) && r.lines[next].verbatim {
		text += r.text[l.start+l.indent+len(l.text) : l.end] // the spaces are part of a string or a comment
	}
	return strings.Repeat("  ", l.level) + text
}
