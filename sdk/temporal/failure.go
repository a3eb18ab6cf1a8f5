package temporal

import (
	"context"
	"errors"

	"go.temporal.io/sdk/temporal"

	"github.com/toolrun/toolrun/abi"
)

// retryable lists the faults that a retry may avoid, because others or the host caused them. A tool
// depends only on its input and its memory, so its own errors and limits would occur again.
var retryable = map[abi.Code]bool{
	abi.Conflict: true, abi.Unavailable: true, abi.Timeout: true, abi.Internal: true,
}

// Retryable reports whether a retry may succeed: for conflict, unavailable, timeout and internal.
func Retryable(f *abi.Fault) bool { return retryable[f.Code] }

// failure returns the error of a failed run for the workflow. result is nil if nothing ran.
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
		// Stopped by a worker shutdown or a pause, not by a workflow. Another worker may continue.
		NonRetryable: !stopped && !a.options.Retryable(f),
		Details:      details,
	})
}

// FaultOf returns the fault of a failed run, from the error that a workflow got from the activity.
// It returns nil for any other error, such as a timeout that Temporal detected. It is
// deterministic, as workflow code has to be.
func FaultOf(err error) *abi.Fault {
	var f *abi.Fault
	if !readDetails(err, &f) {
		return nil
	}
	return f
}

// ResultOf returns the Result of a failed run, with its id and log lines, or nil if there is none.
func ResultOf(err error) *Result {
	var f *abi.Fault
	var result *Result
	if !readDetails(err, &f, &result) {
		return nil
	}
	return result
}

// readDetails decodes the details of an activity's error. The details of other errors were never
// encoded: Temporal's SDK panics if they are decoded as another type.
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
