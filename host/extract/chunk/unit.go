package chunk

import (
	"strings"
	"unicode/utf8"
)

// unit is a part of a text that a chunk contains as a whole: a heading, a paragraph, or a part of a
// long paragraph.
type unit struct {
	start, end int
	// level is the level of a heading, counted from 1, and title is the text of the heading. Units
	// that are not headings have the level 0.
	level int
	title string
}

// forEachUnit calls a function for each unit of a text, in order. The units are adjacent and contain
// the whole text. A unit has at most size bytes, or one line if it is a heading.
func forEachUnit(text string, size int, visit func(unit)) {
	start := 0 // of the current paragraph
	flush := func(end int) {
		forEachPiece(text, start, end, size, func(from, to int) { visit(unit{start: from, end: to}) })
		start = end
	}
	for at := 0; at < len(text); {
		line, end := lineAt(text, at)
		if title, level, after := headingAt(text, line, end); level > 0 && after-at <= size {
			flush(at)
			visit(unit{start: at, end: after, level: level, title: title})
			at, start = after, after
			continue
		}
		at = end
		if isBlank(line) || strings.HasSuffix(line, "\f") {
			flush(at)
		}
	}
	flush(len(text))
}

// lineAt returns the line at a position, and the position of the next line. A line ends after a line
// feed or a form feed.
func lineAt(text string, at int) (line string, end int) {
	n := strings.IndexAny(text[at:], "\n\f")
	if n < 0 {
		return text[at:], len(text)
	}
	if text[at+n] == '\n' {
		return text[at : at+n], at + n + 1
	}
	return text[at : at+n+1], at + n + 1
}

func isBlank(line string) bool { return strings.TrimSpace(line) == "" }

// headingAt returns the text and the level of a Markdown heading that begins at the given line, and
// the position after the heading. The argument "next" is the position of the next line.
func headingAt(text, line string, next int) (title string, level, after int) {
	line = strings.TrimSuffix(line, "\r")
	for level < len(line) && line[level] == '#' {
		level++
	}
	if level > 0 {
		rest, spaced := strings.CutPrefix(line[level:], " ")
		title = strings.TrimSpace(strings.TrimRight(rest, "# "))
		if level > 6 || !spaced || title == "" {
			return "", 0, 0
		}
		return title, level, next
	}
	if isBlank(line) || line[0] == ' ' || line[0] == '\t' || next >= len(text) {
		return "", 0, 0
	}
	underline, end := lineAt(text, next)
	switch underline = strings.TrimRight(underline, " \r"); {
	case len(underline) >= 3 && strings.Trim(underline, "=") == "":
		return strings.TrimSpace(line), 1, end
	case len(underline) >= 3 && strings.Trim(underline, "-") == "":
		return strings.TrimSpace(line), 2, end
	}
	return "", 0, 0
}

// forEachPiece calls a function for each piece of a paragraph. The paragraph is one piece unless it
// is too long. A long paragraph is divided into sentences, and a long sentence into parts.
func forEachPiece(text string, start, end, size int, visit func(from, to int)) {
	if end-start <= size {
		if start < end {
			visit(start, end)
		}
		return
	}
	for start < end {
		to := start + sentence(text[start:end], size)
		visit(start, to)
		start = to
	}
}

// sentence returns the size of the first sentence of a text, with the white space that follows it.
// A long sentence is cut at a space, or between two characters if it has no space.
func sentence(text string, size int) int {
	space := 0
	for i := 0; i < len(text); i++ {
		if i == size {
			break
		}
		if text[i] != ' ' && text[i] != '\n' {
			continue
		}
		space = i + 1
		if i > 0 && strings.IndexByte(".!?:;", text[i-1]) >= 0 || text[i] == '\n' && i+1 < len(text) && text[i+1] == '\n' {
			return space
		}
	}
	switch {
	case len(text) <= size:
		return len(text)
	case space > 0:
		return space
	}
	end := size
	for end > size-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return end
}
