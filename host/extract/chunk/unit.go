package chunk

import (
	"strings"
	"unicode/utf8"
)

// unit is a heading, a paragraph, or a part of a long paragraph. A chunk always contains whole
// units.
type unit struct {
	start, end int
	// level is the level of a heading, starting at 1, or 0 if the unit is not a heading. title is
	// the text of a heading.
	level int
	title string
}

// forEachUnit calls a function for each unit of a text. The calls are in the order of the text. The
// units are adjacent and contain the whole text. A heading is one line. Any other unit has at most
// size bytes.
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

// lineAt returns the line that begins at a position. lineAt also returns the position of the next
// line. A line ends after a line feed or a form feed.
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

// headingAt returns the text and the level of the Markdown heading that begins at the given line,
// and the position after the heading. The argument "next" is the position of the line after the
// given line.
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

// forEachPiece calls a function for each piece of a paragraph. If the paragraph is not too long, it
// is one piece. Otherwise, the pieces are sentences, and parts of sentences that are too long.
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

// sentence returns the size of the first sentence of a text. The size includes the white space
// after the sentence. A sentence that is too long is cut at a space. If it contains no space, it is
// cut between two characters.
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
