package client

import (
	"context"
	"iter"
	"net/http"

	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

// Approvals is a handle for the effects of the app that wait for an approval. The Result of a
// paused run contains the token of its approval. Approvals is safe for concurrent use.
type Approvals struct{ client *Client }

// Approvals returns the handle for the approvals of the app.
func (c *Client) Approvals() Approvals { return Approvals{c} }

// ApprovalQuery selects approvals. The zero value of ApprovalQuery selects the first page of all
// pending approvals.
type ApprovalQuery struct {
	// After is the value of the field Next of the previous page.
	After string
	// User selects the approvals of a user.
	User string
	// All also selects approvals that were decided or have expired in the last day.
	All bool
}

// List returns a page of approvals, oldest first. A page can be empty although another page
// follows. If Next is set, another page follows.
func (h Approvals) List(ctx context.Context, q ApprovalQuery) (*apitypes.List[apitypes.Approval], error) {
	r := newRequest(http.MethodGet, "approvals").set("after", q.After).set("user_id", q.User)
	if q.All {
		r.set("all", "true")
	}
	return fetch[apitypes.List[apitypes.Approval]](ctx, h.client, r)
}

// Pages iterates over the approvals of all pages. An error ends the iteration.
func (h Approvals) Pages(ctx context.Context, q ApprovalQuery) iter.Seq2[apitypes.Approval, error] {
	return pages(func(after string) (*apitypes.List[apitypes.Approval], error) {
		q.After = after
		return h.List(ctx, q)
	}, q.After)
}

// Get describes an approval.
func (h Approvals) Get(ctx context.Context, token string) (*apitypes.Approval, error) {
	return fetch[apitypes.Approval](ctx, h.client, newRequest(http.MethodGet, "approvals", token))
}

// Approve approves an effect and returns the Result of its run, like Run. The run can be paused
// again if it reaches another effect.
func (h Approvals) Approve(ctx context.Context, token string) (*report.Result, error) {
	return answered(h.decide(ctx, token, apitypes.Decision{Decision: apitypes.Approve}))
}

// Deny denies an effect. Deny returns the Result of the run, which has failed. The reason of a
// denial can be "".
func (h Approvals) Deny(ctx context.Context, token, reason string) (*report.Result, error) {
	return h.decide(ctx, token, apitypes.Decision{Decision: apitypes.Deny, Reason: reason})
}

func (h Approvals) decide(ctx context.Context, token string, d apitypes.Decision) (*report.Result, error) {
	return fetchWith[report.Result](ctx, h.client, newRequest(http.MethodPost, "approvals", token), d)
}
