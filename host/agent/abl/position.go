package abl

import (
	"fmt"
	"unicode/utf8"
)

// Position is a location in a file. Line and Column count from 1, columns in characters. The zero
// value is an unknown location.
type Position struct {
	Line   int `json:"line"`
	Column int `json:"column"`
}

// String formats the position as line:column.
func (p Position) String() string { return fmt.Sprintf("%d:%d", p.Line, p.Column) }

// Text is a text of a file.
type Text struct {
	Position
	Value string
	// Indent is the number of characters before each line of Value except the first.
	Indent int
}

// at returns the position of a byte offset in the text.
func (t Text) at(offset int) Position {
	pos, start := t.Position, 0
	for i := range min(offset, len(t.Value)) {
		if t.Value[i] == '\n' {
			pos.Line++
			pos.Column = t.Indent + 1
			start = i + 1
		}
	}
	pos.Column += utf8.RuneCountInString(t.Value[start:min(max(offset, start), len(t.Value))])
	return pos
}

// Name is a name in a file, such as that of a step.
type Name struct {
	Position
	Value string
}
