package engine

import (
	"context"

	"github.com/toolrun/toolrun/abi"
)

// EndOf says why ctx, which has ended, did so: the fault that an engine returns for a run that was stopped. A cause
// that is a fault already is kept.
func EndOf(ctx context.Context) error {
	cause := context.Cause(ctx)
	if fault, ok := cause.(*abi.Fault); ok {
		return fault
	}
	if cause == context.DeadlineExceeded || ctx.Err() == context.DeadlineExceeded {
		return abi.Faultf(abi.Timeout, "the tool did not finish in time")
	}
	return abi.Faultf(abi.Cancelled, "the run was cancelled")
}

// NotRun is the error of a run that could not begin, or not go on, for lack of something that the host's side has to
// give: it is none of the guest's doing, and no guest can answer it.
type NotRun struct{ Fault *abi.Fault }

// Error is the fault's.
func (n *NotRun) Error() string { return n.Fault.Error() }

// Unwrap returns the fault.
func (n *NotRun) Unwrap() error { return n.Fault }

// Trapped is in the message of a tool_error that was no error of the tool's making, but an accident such as
// reading outside of its memory.
const Trapped = "trapped: "

// OfWorkflow reports whether a key of the context belongs to the workflow that a tool runs in. A tool reads it.
func OfWorkflow(key string) bool {
	switch key {
	case "steps", "branch", "status", "dbquery":
		return true
	}
	return false
}

// WorkflowFault is what a tool gets that changed such a key; name is the key as the tool knows it.
func WorkflowFault(name string) error {
	return abi.Faultf(abi.OutputInvalid, "%s belongs to the workflow and cannot be changed", name).
		WithHint("answer the value instead, or put it under another key of the context")
}
