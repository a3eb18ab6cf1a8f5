package intl

import "fmt"

// Error is a refusal that a guest gets as an exception of the class Kind.
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

// unsupported is the refusal of what Node has and this package has not.
func unsupported(what, hint string) error {
	return rangeErrorf("%s is not supported by toolrun's Intl; %s", what, hint)
}

// quoted shortens a text of a guest for a message.
func quoted(text string) string {
	const most = 60
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "…"
	}
	return text
}
