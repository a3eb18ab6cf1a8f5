package abi

import (
	"errors"
	"fmt"
)

// Fault is an error with a stable code: what a guest, the command line, an HTTP client and a Go caller get
// alike. Its message is written for the person or the model that reads it; it holds no stored value,
// nothing of another caller and no path of the host. A Fault is not changed after it was returned.
type Fault struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
	// Op and Store say which call was refused, where it was a memory call.
	Op    string `json:"op,omitempty"`
	Store string `json:"store,omitempty"`
	// Item names the record of the store that it is about, in a store with many.
	Item string `json:"item,omitempty"`
	// Violations lists every place where a content does not fit its schema.
	Violations []Violation `json:"violations,omitempty"`
	// Hint says what to do about it, where there is something to do.
	Hint string `json:"hint,omitempty"`
	// File, Line and Column are where in the author's source it happened; lines and columns count from 1
	// and are 0 where unknown. Stack is the author's part of the call stack.
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	Stack  string `json:"stack,omitempty"`
	// Outcome is "unknown" where the host cannot tell whether a commit took place.
	Outcome string `json:"outcome,omitempty"`
	// ID is given by the host to each fault it raises in a guest. A fault that comes back out of the guest is
	// believed by this id alone, for a guest can make an error that looks like any fault.
	ID string `json:"id,omitempty"`
}

// Faultf makes a Fault with a formatted message.
func Faultf(code Code, format string, args ...any) *Fault {
	return &Fault{Code: code, Message: fmt.Sprintf(format, args...)}
}

// WithHint returns a copy of f that says what to do.
func (f *Fault) WithHint(format string, args ...any) *Fault {
	g := *f
	g.Hint = fmt.Sprintf(format, args...)
	return &g
}

// Error returns the code and the message.
func (f *Fault) Error() string {
	if f.Message == "" {
		return string(f.Code)
	}
	return string(f.Code) + ": " + f.Message
}

// Is reports whether target is the fault's code.
func (f *Fault) Is(target error) bool {
	code, ok := target.(Code)
	return ok && code == f.Code
}

// FaultOf returns the Fault in err's chain; for any other error an Internal fault that does not quote it,
// since the text of an unknown error may hold what a guest must not see. It returns nil for nil.
func FaultOf(err error) *Fault {
	if err == nil {
		return nil
	}
	if f, ok := errors.AsType[*Fault](err); ok {
		return f
	}
	return Faultf(Internal, "an internal error; the host's log has the details")
}
