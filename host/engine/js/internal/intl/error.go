package intl

import "fmt"

// Error is an error that the guest receives as an exception. The field Kind contains the
// exception's class.
type Error struct {
	Kind    string // "RangeError" or "TypeError"
	Message string
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

func rangeErrorf(format string, args ...any) error {
	return &Error{"RangeError", fmt.Sprintf(format, args...)}
}

func typeErrorf(format string, args ...any) error {
	return &Error{"TypeError", fmt.Sprintf(format, args...)}
}

// unsupported returns the error for a feature that Node supports but this package does not.
func unsupported(what, hint string) error {
	return rangeErrorf("%s is not supported by toolrun's Intl; %s", what, hint)
}

// quoted quotes a guest's text for a message and truncates it.
func quoted(text string) string {
	const maximum = 60
	if runes := []rune(text); len(runes) > maximum {
		text = string(runes[:maximum]) + "…"
	}
	return text
}
