package machine

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// PositionAt converts an offset in the source to a position.
func (d *Document) PositionAt(offset int) Position {
	before := d.Source[:min(max(offset, 0), len(d.Source))]
	start := strings.LastIndexByte(before, '\n') + 1
	return Position{strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[start:]) + 1}
}

// JavaScript converts an expression of a machine to JavaScript. A string in double quotes that
// contains "${...}" becomes a template literal. JavaScript inserts some backslashes. The result
// "inserted" contains their offsets in the returned code, in increasing order.
func (s Script) JavaScript() (code string, inserted []int) {
	scan := &scanner{src: s.Text, interpolate: true}
	for scan.space(); scan.next().kind != endToken; scan.space() {
	}
	var out strings.Builder
	done := 0
	for _, p := range scan.pieces {
		if p.opens && p.closes {
			continue // a string without substitutions
		}
		out.WriteString(s.Text[done:p.start])
		done = p.end
		inner := s.Text[p.start:p.end]
		if p.opens {
			out.WriteByte('`')
			inner = inner[1:]
		}
		if p.closes {
			inner = inner[:len(inner)-1]
		}
		for i := 0; i < len(inner); i++ {
			switch {
			case inner[i] == '`':
				inserted = append(inserted, out.Len())
				out.WriteByte('\\')
			case inner[i] == '\\' && i+1 < len(inner):
				out.WriteByte(inner[i])
				i++
			}
			out.WriteByte(inner[i])
		}
		if p.closes {
			out.WriteByte('`')
		}
	}
	out.WriteString(s.Text[done:])
	return out.String(), inserted
}

// Value examines the code of a step "compute". If the code ends with an object {...} that begins a
// statement, Value returns the offset of the object in the text, and the end of the token before
// the object. Otherwise, the offset is -1.
func (s Script) Value() (offset, before int) {
	scan := &scanner{src: s.Text}
	at, fresh := -1, false // the last brace that is outside of brackets, and whether it begins a line
	var prev, last token   // the tokens before the brace and at the end
	closed := -1           // the offset of the bracket that closes the brace
	for {
		from := scan.pos
		scan.space()
		depth, earlier := len(scan.brackets), scan.prev
		t := scan.next()
		if t.kind == endToken {
			break
		}
		switch text := s.Text[t.start:t.end]; {
		case depth == 0 && text == "{":
			at, prev, closed = t.start, earlier, -1
			fresh = from == 0 || strings.Contains(s.Text[from:t.start], "\n")
		case depth == 1 && len(scan.brackets) == 0 && closed < 0:
			closed = t.start
		}
		if t.end > t.start && s.Text[t.start] != ';' {
			last = t
		}
	}
	if at < 0 || closed != last.start || !s.beginsValue(prev, fresh) {
		return -1, 0
	}
	return at, prev.end
}

// beginsValue reports whether a brace begins a statement that is an object. The argument "fresh"
// reports whether the brace begins a line.
func (s Script) beginsValue(prev token, fresh bool) bool {
	text := s.Text[prev.start:prev.end]
	if text == "" || text == ";" {
		return true
	}
	return fresh && !slices.Contains(openers, text) && (prev.kind != punctToken || strings.Contains(")]}", text))
}

// openers are the words that are followed by a block.
var openers = []string{"else", "do", "try", "finally"}
