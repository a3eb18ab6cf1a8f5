package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/problem"
	"github.com/toolrun/toolrun/internal/cli/exitcode"
)

// usageError means that a command line is incorrect. The exit code of a usageError is always 2,
// regardless of its fault code.
type usageError struct{ fault *abi.Fault }

// Error returns the message of the fault.
func (e *usageError) Error() string { return e.fault.Message }

// usagef returns a usageError. The argument "hint" may be "".
func usagef(hint, format string, args ...any) error {
	f := abi.Faultf(abi.InvalidArgument, format, args...)
	f.Hint = hint
	return &usageError{f}
}

// appError reports that an app file cannot be used.
type appError struct {
	file     string
	problems problem.List
}

// Error returns a message that contains the number of mistakes. The list of mistakes is printed
// separately.
func (e *appError) Error() string {
	n := len(e.problems.Err().(problem.List))
	return fmt.Sprintf("%s has %s", e.file, count(n, "mistake"))
}

// count formats a number and a noun, such as "1 record" or "2 records".
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// faultOf converts any error to a fault. The fault contains the whole error text. Some error texts
// are hidden from guests, but the user of the command line may see all error texts.
func faultOf(err error) *abi.Fault {
	if u, ok := errors.AsType[*usageError](err); ok {
		return u.fault
	}
	if f, ok := errors.AsType[*abi.Fault](err); ok {
		return f
	}
	if _, ok := errors.AsType[*appError](err); ok {
		return abi.Faultf(abi.SourceInvalid, "%v", err)
	}
	if moved, ok := errors.AsType[*memory.ScopeChangedError](err); ok {
		return movedFault(moved, "")
	}
	if errors.Is(err, context.Canceled) {
		return abi.Faultf(abi.Cancelled, "the command was interrupted")
	}
	return abi.Faultf(abi.Internal, "%v", err)
}

// exitCode returns the exit code for an error.
func exitCode(err error) int {
	if err == nil {
		return exitcode.Done
	}
	if _, ok := errors.AsType[*usageError](err); ok {
		return exitcode.Usage
	}
	return exitcode.Of(faultOf(err).Code)
}

// fail prints an error and returns the exit code for the error.
func (p *program) fail(err error) int {
	if bad, ok := errors.AsType[*appError](err); ok {
		p.out.printProblems(p.env.Stderr, p.env.StderrTerminal, bad.problems.Err().(problem.List))
	}
	_, usage := errors.AsType[*usageError](err)
	p.out.printFault(faultOf(err), !usage)
	if p.out.failedRun != "" {
		p.out.note(dim, "  run: ", p.out.failedRun)
	}
	if p.out.json && !p.out.answered {
		p.out.failJSON(err)
	}
	return exitCode(err)
}

// failJSON prints an error as JSON. The error is in the member "error", which has the same format
// as in a Result.
func (c *console) failJSON(err error) {
	answer := struct {
		OK       bool         `json:"ok"`
		Error    *abi.Fault   `json:"error"`
		Problems problem.List `json:"problems,omitempty"`
	}{Error: faultOf(err)}
	if bad, ok := errors.AsType[*appError](err); ok {
		answer.Problems = bad.problems
	}
	_ = c.printJSON(answer) // the command has already failed with another error
}

// printFault prints the message, the location and the hint of an error as text.
func (c *console) printFault(f *abi.Fault, withCode bool) {
	text := f.Message
	if withCode {
		text = string(f.Code) + ": " + text
	}
	c.note(red, "error: ", text)
	switch {
	case f.Stack != "":
		for line := range strings.Lines(f.Stack) {
			c.note(plain, "  ", strings.TrimSpace(line))
		}
	case f.File != "" && f.Line > 0:
		c.note(plain, "  at ", strings.TrimSuffix(fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column), ":0")) // 0 is unknown
	case f.Line > 0:
		c.note(plain, "  at ", strings.TrimSuffix(fmt.Sprintf("line %d, column %d", f.Line, f.Column), ", column 0"))
	}
	hint := f.Hint
	if flag := flagFor[f.Code]; flag != "" {
		hint = flag
	}
	if hint != "" {
		c.note(dim, "  hint: ", hint)
	}
}

// flagFor maps the code of a fault about a missing value to a hint. The hint names the flag that
// sets the value.
var flagFor = map[abi.Code]string{
	abi.NoUser:     "set the user with --user",
	abi.NoSession:  "set the session with --session, or start a session with `toolrun session start`",
	abi.NoAgent:    "set the agent with --agent",
	abi.NoWorkflow: "set the workflow with --workflow, or the session with --session",
}
