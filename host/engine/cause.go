package engine

import (
	"context"

	"github.com/toolrun/toolrun/abi"
)

// FaultFromContext returns a fault for a run that was stopped because its context ended. The
// argument ctx is this context. If the cause of the context is a fault, FaultFromContext returns
// this fault.
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

// NotStartedError is the error of a run that could not start or continue. The reason is a problem
// of the host, for example that no worker was available. Guests never see a NotStartedError.
type NotStartedError struct{ Fault *abi.Fault }

// Error returns the message of the fault that the error contains.
func (e *NotStartedError) Error() string { return e.Fault.Error() }

// Unwrap returns the fault.
func (e *NotStartedError) Unwrap() error { return e.Fault }

// Trapped is the start of a message. If a WebAssembly guest traps, for example because of an
// out-of-bounds memory access, the message of the tool_error begins with Trapped.
const Trapped = "trapped: "
