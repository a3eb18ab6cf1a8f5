package temporal

import (
	"context"
	"errors"

	"go.temporal.io/sdk/temporal"

	"github.com/toolrun/toolrun/abi"
)

// retryable lists the codes of faults that a retry can avoid, because other runs or the host have
// caused them. The result of a tool depends only on its input and its stored data, so a retry would
// not avoid the tool's own errors and exceeded limits.
var retryable = map[abi.Code]bool{
	abi.Conflict: true, abi.Unavailable: true, abi.Timeout: true, abi.Internal: true,
}

// Retryable reports whether a retry can succeed. Retryable returns true for the codes conflict,
// unavailable, timeout and internal.
func Retryable(f *abi.Fault) bool { return retryable[f.Code] }

// failure returns the error that the workflow gets for a failed run. result is nil if the tool was
// not run.
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
		// A worker shutdown or a pause has stopped the run, not the workflow. Another worker can
		// retry the run.
		NonRetryable: !stopped && !a.options.Retryable(f),
		Details:      details,
	})
}

// FaultOf returns the fault of a failed run from the error that a workflow got from the activity.
// FaultOf returns nil for any other error, such as a timeout that Temporal has detected. FaultOf is
// deterministic, so workflow code can call it.
func FaultOf(err error) *abi.Fault {
	var f *abi.Fault
	if !readDetails(err, &f) {
		return nil
	}
	return f
}

// ResultOf returns the Result of a failed run, which contains its id and log lines. If the error
// contains no Result, ResultOf returns nil.
func ResultOf(err error) *Result {
	var f *abi.Fault
	var result *Result
	if !readDetails(err, &f, &result) {
		return nil
	}
	return result
}

// readDetails decodes the details of an activity's error. readDetails ignores other errors, because
// their details were never encoded. Temporal's SDK panics if details are decoded as another type.
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
