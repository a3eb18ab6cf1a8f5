package temporal

import (
	"context"
	"errors"

	"go.temporal.io/sdk/temporal"

	"github.com/toolrun/toolrun/abi"
)

// retryable are the faults that trying again may get past: others' doing, or the host's. What a tool does depends on
// nothing but its input and its memory, so its own errors, and limits, are met again.
var retryable = map[abi.Code]bool{
	abi.Conflict: true, abi.Unavailable: true, abi.Timeout: true, abi.Internal: true,
}

// Retryable reports whether trying again may help: for conflict, unavailable, timeout and internal.
func Retryable(f *abi.Fault) bool { return retryable[f.Code] }

// failure is what the workflow gets of a run that failed. Result is nil where nothing ran.
func (a *Activities) failure(ctx context.Context, f *abi.Fault, result *Result) error {
	details := []any{f}
	if result != nil {
		details = append(details, result)
	}
	stopped := f.Code == abi.Cancelled && ctx.Err() != nil
	if stopped && temporal.IsCanceledError(context.Cause(ctx)) {
		return temporal.NewCanceledError(details...)
	}
	return temporal.NewApplicationErrorWithOptions(f.Message, string(f.Code), temporal.ApplicationErrorOptions{
		// Stopped, but by no workflow: the worker shuts down, or the activity is paused. Another worker may go on.
		NonRetryable: !stopped && !a.options.Retryable(f),
		Details:      details,
	})
}

// FaultOf returns the fault that a run failed with, from the error that a workflow got of the activity; nil for any
// other error, such as a timeout that Temporal found itself. It is deterministic, as workflows have to be.
func FaultOf(err error) *abi.Fault {
	var f *abi.Fault
	if !readDetails(err, &f) {
		return nil
	}
	return f
}

// ResultOf returns what the run that failed has left beside its fault, such as its id and what it logged; nil where there
// is none.
func ResultOf(err error) *Result {
	var f *abi.Fault
	var result *Result
	if !readDetails(err, &f, &result) {
		return nil
	}
	return result
}

// readDetails reads the details of an activity's error. What is no activity's error is none of ours, and has details that
// were never encoded: Temporal's SDK panics where those are read as something else.
func readDetails(err error, into ...any) bool {
	activity, ok := errors.AsType[*temporal.ActivityError](err)
	if !ok {
		return false
	}
	if failed, ok := errors.AsType[*temporal.ApplicationError](activity.Unwrap()); ok {
		return abi.Code(failed.Type()).Number() != 0 && failed.HasDetails() && failed.Details(into...) == nil
	}
	cancelled, ok := errors.AsType[*temporal.CanceledError](activity.Unwrap())
	return ok && cancelled.HasDetails() && cancelled.Details(into...) == nil
}
