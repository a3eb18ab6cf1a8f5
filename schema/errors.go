package schema

import (
	"slices"
	"strconv"
	"strings"

	"github.com/toolrun/toolrun/abi"
)

// Error is a mistake in a schema. Pointer is the JSON Pointer to the mistake in the document of the
// schema. The Pointer "" refers to the whole document. Callers can map a pointer to a line of the
// file.
type Error struct {
	Pointer string
	Message string
	// Hint is advice on how to fix the mistake, or "".
	Hint string
	// Harmless is true if the schema is as strict as it looks despite the mistake. An example of a
	// harmless mistake is a default that does not match its schema, which is common in generated
	// schemas.
	Harmless bool
}

// Error returns the position and the message of the mistake.
func (e *Error) Error() string {
	if e.Pointer == "" {
		return e.Message
	}
	return e.Message + ", at " + e.Pointer
}

// Errors lists all mistakes that Compile found. Errors is never empty. With errors.As, callers can
// get the Errors or the first *Error.
type Errors []*Error

// Error returns the messages of all mistakes, separated by newlines.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, err := range e {
		lines[i] = err.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the individual mistakes.
func (e Errors) Unwrap() []error {
	all := make([]error, len(e))
	for i, err := range e {
		all[i] = err
	}
	return all
}

// tidy sorts mistakes by position. At each position, tidy keeps only the mistake that was found
// first.
func (e Errors) tidy() Errors {
	slices.SortStableFunc(e, func(a, b *Error) int { return strings.Compare(a.Pointer, b.Pointer) })
	return slices.CompactFunc(e, func(a, b *Error) bool { return a.Pointer == b.Pointer })
}

// oneError returns an Errors with a single mistake.
func oneError(pointer, message, hint string) Errors {
	return Errors{{Pointer: pointer, Message: message, Hint: hint}}
}

// summarized is the maximum number of violations in a summary.
const summarized = 3

// Summary returns a single line for the message of a fault. Summary contains the first few
// violations, and the number of the other violations.
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
