package abl

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Position is a location in a file. The first line is line 1, and the first column is column 1.
// Columns count characters. The zero value means that the location is unknown.
type Position struct {
	Line   int `json:"line"`
	Column int `json:"column"`
}

// String returns the position in the form LINE:COLUMN.
func (p Position) String() string { return fmt.Sprintf("%d:%d", p.Line, p.Column) }

// Text is a text in a file, with its position.
type Text struct {
	Position
	Value string
	// Indent is the number of characters before each line of Value except the first line.
	Indent int
}

// The method "at" converts a byte offset in the text to a position.
func (t Text) at(offset int) Position {
	l := locator{text: t}
	return l.at(offset)
}

// locator converts offsets in a text to positions. A locator counts lines from the previous offset,
// whereas Text.at counts them from the start of the text for each offset. Therefore, a locator is
// faster for increasing offsets.
type locator struct {
	text   Text
	offset int
	pos    Position
}

func (l *locator) at(offset int) Position {
	if offset < l.offset || l.pos == (Position{}) {
		l.offset, l.pos = 0, l.text.Position
	}
	offset = min(offset, len(l.text.Value))
	for part := l.text.Value[l.offset:offset]; part != ""; {
		line, rest, found := strings.Cut(part, "\n")
		if found {
			l.pos.Line++
			l.pos.Column = l.text.Indent + 1
		} else {
			l.pos.Column += utf8.RuneCountInString(line)
		}
		part = rest
	}
	l.offset = offset
	return l.pos
}

// Name is a name in a file, such as the name of a step.
type Name struct {
	Position
	Value string
}
