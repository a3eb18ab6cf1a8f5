package abi

import (
	"errors"
	"fmt"
)

// Fault is an error with a stable code. Guests, the command line, HTTP clients and Go callers get
// the same faults. The message is written for people and models. It contains no stored values, no
// data of other callers and no paths of the host. A Fault is immutable after it was returned.
type Fault struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
	// Op and Store identify the memory call that failed, if it was one.
	Op    string `json:"op,omitempty"`
	Store string `json:"store,omitempty"`
	// Item is the name of the affected record, in a store with many records.
	Item string `json:"item,omitempty"`
	// Violations lists the positions at which a value does not fit its schema.
	Violations []Violation `json:"violations,omitempty"`
	// Hint is advice on how to fix the problem, or "".
	Hint string `json:"hint,omitempty"`
	// File, Line and Column are the position in the author's source. Lines and columns count from
	// 1, and 0 means unknown. Stack is the author's part of the call stack.
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	Stack  string `json:"stack,omitempty"`
	// Outcome is "unknown" if the host does not know whether a commit took place.
	Outcome string `json:"outcome,omitempty"`
	// ID identifies a fault that the host raised in a guest. When the guest returns a fault, the
	// host trusts only this id, since a guest can create an error that looks like any fault.
	ID string `json:"id,omitempty"`
}

// Faultf returns a Fault with a formatted message.
func Faultf(code Code, format string, args ...any) *Fault {
	return &Fault{Code: code, Message: fmt.Sprintf(format, args...)}
}

// WithHint returns a copy of f with a formatted hint.
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

// Is reports whether target is the code of the fault.
func (f *Fault) Is(target error) bool {
	code, ok := target.(Code)
	return ok && code == f.Code
}

// FaultOf returns the Fault in err's chain. For any other error it returns an Internal fault that
// does not quote the error, since its text may contain data that a guest must not see. It returns
// nil for nil.
func FaultOf(err error) *Fault {
	if err == nil {
		return nil
	}
	if f, ok := errors.AsType[*Fault](err); ok {
		return f
	}
	return Faultf(Internal, "an internal error; the host's log has the details")
}
