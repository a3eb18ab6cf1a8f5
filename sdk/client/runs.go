package client

import (
	"context"
	"net/http"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

// Runs is a handle for current and recent runs. Runs is safe for concurrent use.
type Runs struct{ client *Client }

// Runs returns the handle for current and recent runs.
func (c *Client) Runs() Runs { return Runs{c} }

// RunOption is an option of a run.
type RunOption func(*request)

// IdempotencyKey makes a run idempotent. For 24 hours after a successful run, requests with the
// same key and the same content return the Result of that run without running the tool again. If
// the service is busy, the client retries a run with this option.
func IdempotencyKey(key string) RunOption {
	return func(r *request) {
		if key != "" {
			r.header.Set("Idempotency-Key", key)
			r.repeatable = true
		}
	}
}

// OnRunID sets a function that StreamRun and StreamRunCode call with the id of the run. The
// function is called before the first log line, even if the run is still queued. The id can be
// passed to Runs.Get and Runs.Cancel. Other calls ignore this option, and return the id in the
// Result.
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

// Run runs a tool once. If the request contains a session, the run belongs to this session. If the
// tool fails, Run returns both the Result and an *Error, so errors.Is(err, abi.Timeout) works. If
// the run is paused, the Result contains its approval; see Approvals. If the tool was not run, the
// Result is nil. The run is canceled when ctx ends.
func (c *Client) Run(ctx context.Context, run apitypes.RunRequest, opts ...RunOption) (*report.Result, error) {
	return answered(fetchWith[report.Result](ctx, c, newRun(opts, "runs"), run))
}

// RunCode is like Run, but runs the source text in the request instead of a declared tool. RunCode
// requires a key with the permission code.
func (c *Client) RunCode(ctx context.Context, run apitypes.CodeRequest, opts ...RunOption) (*report.Result, error) {
	return answered(fetchWith[report.Result](ctx, c, newRun(opts, "runs", "code"), run))
}

// Get describes a run that was started with the same credentials. Operators can get every run of
// the tenant. Get can describe a run for up to 10 minutes after the end of the run. If there are
// many runs, this time is shorter.
func (h Runs) Get(ctx context.Context, id string) (*apitypes.Run, error) {
	return fetch[apitypes.Run](ctx, h.client, newRequest(http.MethodGet, "runs", id))
}

// Cancel cancels a run that Get can return, and describes the run. The run ends soon. A canceled
// run stores nothing, unless it has already begun to commit.
func (h Runs) Cancel(ctx context.Context, id string) (*apitypes.Run, error) {
	r := newRequest(http.MethodPost, "runs", id, "cancel")
	r.repeatable = true
	return fetch[apitypes.Run](ctx, h.client, r)
}

// answered returns the Result of a run. If the run failed, answered also returns its error.
func answered(result *report.Result, err error) (*report.Result, error) {
	if err != nil || result.OK || result.Status == report.Paused {
		return result, err
	}
	f := result.Error
	if f == nil {
		f = abi.Faultf(abi.Internal, "the run failed, but its Result has no error")
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
