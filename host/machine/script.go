package machine

import (
	"strings"

	"github.com/toolrun/toolrun/host/problem"
)

// script reads JavaScript code that begins at an offset. The code ends before the first line for
// which the function "ends" returns true. The method ignores lines at whose start a bracket, a text
// or a comment is open. The argument "first" is the level of the first line, and the argument
// "level" is the level of the other lines.
func (r *source) script(start int, interpolate bool, first, level int, ends func(l *line) bool) Script {
	s := &scanner{src: r.text, pos: start, interpolate: interpolate, level: first}
	f := codeLevels{r: r, s: s, level: level, current: r.lineAt(start).index}
	s.inside = f.inside
	begin, end, next := -1, start, 0
	for {
		s.space()
		if s.pos >= len(r.text) {
			next = len(r.lines)
		}
		if s.failure != "" || s.pos >= len(r.text) {
			break
		}
		if l := r.lineAt(s.pos); l.index != f.current {
			if len(s.brackets) == 0 && ends(l) {
				next = l.index
				break
			}
			f.begin(l)
		}
		t := s.next()
		f.inside(t.start, t.end)
		if begin < 0 {
			begin = t.start
		}
		end = t.end
	}
	r.scanFailure(s)
	r.next = max(next, r.lineAt(end).index+1)
	if begin < 0 {
		return Script{}
	}
	return Script{r.position(begin), r.text[begin:end], begin}
}

// scanFailure reports a bracket, a text or a comment that is not closed.
func (r *source) scanFailure(s *scanner) {
	switch {
	case s.failure != "":
		r.errorf(r.position(min(s.failedAt, len(r.text))), problem.Syntax, s.hint, "%s", s.failure)
	case len(s.brackets) > 0:
		open := s.brackets[len(s.brackets)-1]
		what := string(open.open)
		if what == "`" || what == `"` {
			what = "${"
		}
		r.errorf(r.position(open.start), problem.Syntax, "close the bracket with "+string(closing[open.open]), "the bracket %s is not closed", what)
	}
}

// codeLevels sets the levels of indentation of the lines of JavaScript code.
type codeLevels struct {
	r       *source
	s       *scanner
	level   int
	current int // the index of the current line
}

// inside marks the lines that begin between two offsets, because a text or a comment contains them.
func (f *codeLevels) inside(start, end int) {
	last := f.r.lineAt(end).index
	for i := f.r.lineAt(start).index + 1; i <= last; i++ {
		f.r.lines[i].verbatim = true
	}
	f.current = max(f.current, last)
}

// begin sets the level of a line that begins with a token.
func (f *codeLevels) begin(l *line) {
	f.current, l.level = l.index, f.level
	n := len(f.s.brackets)
	closers := 0
	for closers < min(n, len(l.text)) && strings.IndexByte(")]}", l.text[closers]) >= 0 {
		closers++
	}
	switch {
	case closers > 0:
		l.level = f.s.brackets[n-closers].outer
	case n > 0:
		l.level = f.s.brackets[n-1].outer + 1
	}
	if continues(l.text) {
		l.level++
	}
	f.s.level = l.level
}

// continues reports whether a line of code continues the expression of the line above it.
func continues(text string) bool {
	return text != "" && strings.IndexByte(".?:&|+*", text[0]) >= 0
}
