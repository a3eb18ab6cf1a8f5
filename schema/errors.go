package schema

import (
	"slices"
	"strconv"
	"strings"

	"github.com/toolrun/toolrun/abi"
)

// Error is one mistake in a schema. Pointer is the JSON Pointer of the mistake in the schema's document, "" for
// the document as a whole, so that a caller can map it to a line of the file that holds it.
type Error struct {
	Pointer string
	Message string
	// Hint says what to do about it, where there is something to do.
	Hint string
	// Harmless is set for a mistake that leaves the schema as strict as it seems: a default that does not fit. Schemas that
	// programs generate have such defaults.
	Harmless bool
}

// Error returns the message and where it applies.
func (e *Error) Error() string {
	if e.Pointer == "" {
		return e.Message
	}
	return e.Message + ", at " + e.Pointer
}

// Errors is what Compile returns: every mistake it found, at least one. errors.As finds both an Errors and
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

// tidy sorts mistakes by their place and leaves one for each place: the first noticed says it best.
func (e Errors) tidy() Errors {
	slices.SortStableFunc(e, func(a, b *Error) int { return strings.Compare(a.Pointer, b.Pointer) })
	return slices.CompactFunc(e, func(a, b *Error) bool { return a.Pointer == b.Pointer })
}

// oneError is the Errors of a single mistake.
func oneError(pointer, message, hint string) Errors {
	return Errors{{Pointer: pointer, Message: message, Hint: hint}}
}

// summarized is how many violations a summary names.
const summarized = 3

// Summary says violations in one line for the message of a fault: the first few, and how many more there are.
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
