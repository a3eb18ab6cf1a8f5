package engine

import (
	"context"

	"github.com/toolrun/toolrun/abi"
)

// EndOf returns the fault of a run that was stopped because ctx ended. If the cause of ctx is a
// fault, it returns that fault.
func EndOf(ctx context.Context) error {
	cause := context.Cause(ctx)
	if fault, ok := cause.(*abi.Fault); ok {
		return fault
	}
	if cause == context.DeadlineExceeded || ctx.Err() == context.DeadlineExceeded {
		return abi.Faultf(abi.Timeout, "the tool exceeded its time limit")
	}
	return abi.Faultf(abi.Cancelled, "the run was cancelled")
}

// NotRun is the error of a run that could not start or continue because of the host's side, such as
// no worker being available. The guest never sees it.
type NotRun struct{ Fault *abi.Fault }

// Error returns the message of the fault.
func (n *NotRun) Error() string { return n.Fault.Error() }

// Unwrap returns the fault.
func (n *NotRun) Unwrap() error { return n.Fault }

// Trapped is the prefix of the message of a tool_error that a WebAssembly trap caused, such as a
// memory access out of bounds.
const Trapped = "trapped: "

// OfWorkflow reports whether a key of the context is reserved for the workflow that the tool runs
// in. Tools can only read it.
func OfWorkflow(key string) bool {
	switch key {
	case "steps", "branch", "status", "dbquery":
		return true
	}
	return false
}

// WorkflowFault returns the fault for a tool that changed a reserved key. name is the key as the
// tool's language spells it.
func WorkflowFault(name string) error {
	return abi.Faultf(abi.OutputInvalid, "%s is reserved for the workflow and cannot be changed", name).
		WithHint("return the value instead, or set another key of the context")
}
