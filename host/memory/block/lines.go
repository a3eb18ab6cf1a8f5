package block

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Line is a line of a block. Blank lines are not represented.
type Line struct {
	// Number is the position of the line. All lines of the block count, including blank lines. The
	// first line has the number 1.
	Number int
	// Text is the line without its list marker and without white space at its ends.
	Text string
}

// Lines returns all lines of a text except the blank lines. Each returned line is an entry of the
// block.
func Lines(content string) iter.Seq[Line] {
	return func(yield func(Line) bool) {
		for number, rest := 1, content; rest != ""; number++ {
			var line string
			line, rest = cutLine(rest)
			if text := stripMarker(line); text != "" && !yield(Line{number, text}) {
				return
			}
		}
	}
}

// CountEntries returns the number of entries of a block.
func CountEntries(content string) int {
	n := 0
	for range Lines(content) {
		n++
	}
	return n
}

// isLineEnd reports whether a character ends a line. The method splitlines of Python accepts the
// same characters.
func isLineEnd(r rune) bool {
	switch r {
	case '\n', '\r', '\v', '\f', '\u0085', '\u2028', '\u2029':
		return true
	}
	return false
}

// cutLine splits a text into its first line and the remaining text.
func cutLine(text string) (line, rest string) {
	i := strings.IndexFunc(text, isLineEnd)
	if i < 0 {
		return text, ""
	}
	line, rest = text[:i], text[i:]
	if after, ok := strings.CutPrefix(rest, "\r\n"); ok {
		return line, after
	}
	_, size := utf8.DecodeRuneInString(rest)
	return line, rest[size:]
}

// stripMarker removes the list marker from the beginning of a line. Examples of list markers are
// "-" and "2.".
func stripMarker(line string) string {
	line = strings.TrimSpace(line)
	marker, rest := line, ""
	if i := strings.IndexFunc(line, unicode.IsSpace); i >= 0 {
		marker, rest = line[:i], strings.TrimSpace(line[i:])
	}
	switch marker {
	case "-", "*", "+", "•":
		return rest
	}
	if digits := strings.TrimRight(marker, ".)"); len(digits) == len(marker)-1 && isNumber(digits) {
		return rest
	}
	return line
}

// isNumber reports whether a text can be the number of a list item.
func isNumber(text string) bool {
	return text != "" && len(text) <= 9 && strings.Trim(text, "0123456789") == ""
}
