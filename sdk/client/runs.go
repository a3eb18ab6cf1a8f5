package client

import (
	"context"
	"net/http"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

// Runs is a handle for runs that have begun. It is safe for concurrent use.
type Runs struct{ client *Client }

// Runs returns the handle for runs that have begun.
func (c *Client) Runs() Runs { return Runs{c} }

// RunOption is an option of a run.
type RunOption func(*request)

// IdempotencyKey makes a run idempotent: for 24 hours, requests with the same key and input get the
// Result of the first run that succeeded, without running again. Such a run is retried if the
// service is busy.
func IdempotencyKey(key string) RunOption {
	return func(r *request) {
		if key != "" {
			r.header.Set("Idempotency-Key", key)
			r.repeatable = true
		}
	}
}

// OnRunID makes StreamRun and StreamRunCode call a function with the id of the run before its first
// line, even while the run is queued. The id can be passed to Runs.Get and Runs.Cancel. Other calls
// return it in the Result.
func OnRunID(call func(id string)) RunOption {
	return func(r *request) { r.onRunID = call }
}

func newRun(opts []RunOption, path ...string) *request {
	r := newRequest(http.MethodPost, path...)
	for _, opt := range opts {
		opt(r)
	}
	return r
}

// Run runs a tool once, in the session that the request names, if any. If the tool ran and failed,
// Run returns both the Result and its error, as in errors.Is(err, abi.Timeout). The Result is nil
// if nothing ran. The run is cancelled when ctx ends.
func (c *Client) Run(ctx context.Context, run apitypes.RunRequest, opts ...RunOption) (*report.Result, error) {
	return answered(fetchWith[report.Result](ctx, c, newRun(opts, "runs"), run))
}

// RunCode runs code that no app declares, as Run runs a tool. It requires a key with the permission
// code.
func (c *Client) RunCode(ctx context.Context, run apitypes.CodeRequest, opts ...RunOption) (*report.Result, error) {
	return answered(fetchWith[report.Result](ctx, c, newRun(opts, "runs", "code"), run))
}

// Get describes a run that was started with the same credentials or, for an operator, any run of
// the tenant. A run can be found until 10 minutes after its end, or less if there are many.
func (h Runs) Get(ctx context.Context, id string) (*apitypes.Run, error) {
	return fetch[apitypes.Run](ctx, h.client, newRequest(http.MethodGet, "runs", id))
}

// Cancel cancels a run that Get finds, and describes it. The run ends soon, and stores nothing
// unless it is already committing.
func (h Runs) Cancel(ctx context.Context, id string) (*apitypes.Run, error) {
	r := newRequest(http.MethodPost, "runs", id, "cancel")
	r.repeatable = true
	return fetch[apitypes.Run](ctx, h.client, r)
}

// answered adds the error to a Result that failed.
func answered(result *report.Result, err error) (*report.Result, error) {
	if err != nil || result.OK {
		return result, err
	}
	f := result.Error
	if f == nil {
		f = abi.Faultf(abi.Internal, "the run failed, and its Result has no error")
	}
	return result, &Error{Fault: f, Status: http.StatusOK, RunID: result.RunID}
}

// items returns the items of a list that has only one page.
func items[T any](list *apitypes.List[T], err error) ([]T, error) {
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}
