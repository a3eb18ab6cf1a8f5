package schema

import (
	"slices"
	"strconv"
	"strings"

	"github.com/toolrun/toolrun/abi"
)

// Error is a mistake in a schema. Pointer is the JSON Pointer of the mistake in the schema's
// document, "" for the document as a whole. A caller can map it to a line of the file.
type Error struct {
	Pointer string
	Message string
	// Hint is how to fix the mistake, if that is known.
	Hint string
	// Harmless reports that the mistake does not make the schema less strict than it looks, such as
	// a default that does not fit. Generated schemas have such defaults.
	Harmless bool
}

// Error returns the position and the message.
func (e *Error) Error() string {
	if e.Pointer == "" {
		return e.Message
	}
	return e.Message + ", at " + e.Pointer
}

// Errors contains all mistakes that Compile found, at least one. errors.As finds both an Errors and
// the first *Error.
type Errors []*Error

// Error returns the messages, one a line.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, err := range e {
		lines[i] = err.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the single mistakes.
func (e Errors) Unwrap() []error {
	all := make([]error, len(e))
	for i, err := range e {
		all[i] = err
	}
	return all
}

// tidy sorts mistakes by position and keeps the first one found at each position.
func (e Errors) tidy() Errors {
	slices.SortStableFunc(e, func(a, b *Error) int { return strings.Compare(a.Pointer, b.Pointer) })
	return slices.CompactFunc(e, func(a, b *Error) bool { return a.Pointer == b.Pointer })
}

// oneError returns an Errors with a single mistake.
func oneError(pointer, message, hint string) Errors {
	return Errors{{Pointer: pointer, Message: message, Hint: hint}}
}

// summarized bounds the violations that a summary names.
const summarized = 3

// Summary summarizes violations in one line for the message of a fault: the first few, and the
// number of others.
func Summary(violations []abi.Violation) string {
	words := make([]string, 0, summarized)
	for _, v := range violations[:min(len(violations), summarized)] {
		words = append(words, v.String())
	}
	text := strings.Join(words, "; ")
	if more := len(violations) - summarized; more > 0 {
		text += "; and " + strconv.Itoa(more) + " more"
	}
	return text
}
