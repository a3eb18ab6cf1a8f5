package client

import (
	"context"
	"iter"
	"net/http"

	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

// Workflows is a handle for the workflows of the app. A workflow starts with the first run or write
// that uses its id. Workflows is safe for concurrent use.
type Workflows struct{ client *Client }

// Workflows returns the handle for the workflows of the app.
func (c *Client) Workflows() Workflows { return Workflows{c} }

// Get describes the caller's workflow.
func (h Workflows) Get(ctx context.Context, caller Caller) (*apitypes.Workflow, error) {
	return fetch[apitypes.Workflow](ctx, h.client, newRequest(http.MethodGet, "workflows", caller.Workflow).set("user_id", caller.User))
}

// End ends the caller's workflow and removes its facts. After the end, requests with this workflow
// id are rejected. If the workflow has already ended, End returns no error.
func (h Workflows) End(ctx context.Context, caller Caller) (*apitypes.Workflow, error) {
	r := newRequest(http.MethodPost, "workflows", caller.Workflow, "end").set("user_id", caller.User)
	r.repeatable = true
	return fetch[apitypes.Workflow](ctx, h.client, r)
}

// WorkflowQuery selects workflows. A field that is zero does not restrict the selection.
type WorkflowQuery struct {
	// User selects the open workflows of a user.
	User string
	PageQuery
}

// List returns a page of workflows, sorted by id.
func (h Workflows) List(ctx context.Context, q WorkflowQuery) (*apitypes.List[apitypes.Workflow], error) {
	r := newRequest(http.MethodGet, "workflows").set("user_id", q.User).set("after", q.After).set("limit", number(q.Limit))
	return fetch[apitypes.List[apitypes.Workflow]](ctx, h.client, r)
}

// All iterates over the workflows of all pages, starting with the page that q selects. An error
// ends the iteration.
func (h Workflows) All(ctx context.Context, q WorkflowQuery) iter.Seq2[apitypes.Workflow, error] {
	return pages(func(after string) (*apitypes.List[apitypes.Workflow], error) {
		q.After = after
		return h.List(ctx, q)
	}, q.After)
}
