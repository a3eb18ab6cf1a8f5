package engine

import (
	"context"

	"github.com/toolrun/toolrun/abi"
)

// FaultFromContext returns the fault of a run that was stopped because ctx ended. If the cause of
// ctx is a fault, FaultFromContext returns that fault.
func FaultFromContext(ctx context.Context) error {
	cause := context.Cause(ctx)
	if fault, ok := cause.(*abi.Fault); ok {
		return fault
	}
	if cause == context.DeadlineExceeded || ctx.Err() == context.DeadlineExceeded {
		return abi.Faultf(abi.Timeout, "the tool exceeded its time limit")
	}
	return abi.Faultf(abi.Cancelled, "the run was canceled")
}

// NotStartedError is the error of a run that could not start or continue because of a problem of
// the host, for example because no worker was available. The guest never sees a NotStartedError.
type NotStartedError struct{ Fault *abi.Fault }

// Error returns the message of the fault.
func (e *NotStartedError) Error() string { return e.Fault.Error() }

// Unwrap returns the fault.
func (e *NotStartedError) Unwrap() error { return e.Fault }

// Trapped is the prefix of a tool_error message for a WebAssembly trap, such as an out-of-bounds
// memory access.
const Trapped = "trapped: "
