package abi

import (
	"errors"
	"fmt"
)

// Fault is an error with a stable code. Go callers, guests, HTTP clients and the command line all
// receive the same faults. Messages are written for people and language models. A message never
// contains stored values, data of other callers or paths of the host. Callers must not modify a
// Fault that a function has returned.
type Fault struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
	// Op and Store are the operation and the store of the failed memory call. For all other faults,
	// Op and Store are "".
	Op    string `json:"op,omitempty"`
	Store string `json:"store,omitempty"`
	// Item is the name of the affected record if the store contains many records.
	Item string `json:"item,omitempty"`
	// Violations lists the parts of a value that do not match the schema.
	Violations []Violation `json:"violations,omitempty"`
	// Hint is advice on how to fix the problem, or "".
	Hint string `json:"hint,omitempty"`
	// File, Line and Column are the position in the source of the tool. Lines and columns start at
	// 1, and 0 means unknown. Stack contains only the stack frames in the source of the tool.
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	Stack  string `json:"stack,omitempty"`
	// Outcome is "unknown" if the host does not know whether the commit succeeded, and ""
	// otherwise.
	Outcome string `json:"outcome,omitempty"`
	// ID identifies a fault that the host returned to a guest. A guest can forge every other field,
	// so if a guest returns a fault, the host trusts only the ID.
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

// Error returns the code and the message of the fault.
func (f *Fault) Error() string {
	if f.Message == "" {
		return string(f.Code)
	}
	return string(f.Code) + ": " + f.Message
}

// Is reports whether the argument "target" is the Code of f.
func (f *Fault) Is(target error) bool {
	code, ok := target.(Code)
	return ok && code == f.Code
}

// FaultOf returns the Fault in the chain of err. If err is nil, FaultOf returns nil. If the chain
// contains no Fault, FaultOf returns an Internal fault. The Internal fault does not contain the
// text of err, which could contain data that guests must not see.
func FaultOf(err error) *Fault {
	if err == nil {
		return nil
	}
	if f, ok := errors.AsType[*Fault](err); ok {
		return f
	}
	return Faultf(Internal, "an internal error; the host's log has the details")
}
