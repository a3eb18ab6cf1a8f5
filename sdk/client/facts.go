package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"

	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

// Facts is a handle for facts. Facts reads and writes facts with the rights of an operator. Facts
// is safe for concurrent use.
type Facts struct{ client *Client }

// Facts returns the handle for facts.
func (c *Client) Facts() Facts { return Facts{c} }

// newFactRequest returns a request for a fact of the caller.
func newFactRequest(method string, caller Caller, path string, ifRevision *int64) *request {
	r := newRequest(method, "facts", path).set("user_id", caller.User).set("session_id", caller.Session).set("workflow_id", caller.Workflow)
	r.requireRevision(ifRevision)
	return r
}

// Get reads a fact of the caller. If no value is stored, the Value of the fact is the declared
// default or null.
func (h Facts) Get(ctx context.Context, caller Caller, path string) (*apitypes.Fact, error) {
	return fetch[apitypes.Fact](ctx, h.client, newFactRequest(http.MethodGet, caller, path, nil))
}

// Set stores the value of a fact. The TTL in opts replaces the declared lifetime.
func (h Facts) Set(ctx context.Context, caller Caller, path string, value json.RawMessage, opts WriteOptions) (*apitypes.Fact, error) {
	r := newFactRequest(http.MethodPut, caller, path, opts.IfRevision).set("ttl", opts.TTL)
	r.text, r.media = value, mediaJSON
	return fetch[apitypes.Fact](ctx, h.client, r)
}

// Delete deletes the stored value of a fact and reports whether a value was stored. The argument
// "ifRevision" has the same meaning as in WriteOptions.
func (h Facts) Delete(ctx context.Context, caller Caller, path string, ifRevision *int64) (*apitypes.Deleted, error) {
	return fetch[apitypes.Deleted](ctx, h.client, newFactRequest(http.MethodDelete, caller, path, ifRevision))
}

// FactQuery selects stored facts. The zero value of FactQuery selects the first page of all facts
// of the caller and of the app.
type FactQuery struct {
	// Prefix selects the paths that begin with the given names, such as user.travel. Domain selects
	// the facts in this domain.
	Prefix, Domain string
	PageQuery
}

// List returns a page of the stored facts of the caller's user, of the caller's workflow or
// session, and of the app.
func (h Facts) List(ctx context.Context, caller Caller, q FactQuery) (*apitypes.List[apitypes.Fact], error) {
	r := newRequest(http.MethodGet, "facts").set("user_id", caller.User).set("session_id", caller.Session).set("workflow_id", caller.Workflow).
		set("prefix", q.Prefix).set("domain", q.Domain).set("after", q.After).set("limit", number(q.Limit))
	return fetch[apitypes.List[apitypes.Fact]](ctx, h.client, r)
}

// All iterates over the stored facts that a query selects, page by page. An error ends the
// iteration.
func (h Facts) All(ctx context.Context, caller Caller, q FactQuery) iter.Seq2[apitypes.Fact, error] {
	return pages(func(after string) (*apitypes.List[apitypes.Fact], error) {
		q.After = after
		return h.List(ctx, caller, q)
	}, q.After)
}
