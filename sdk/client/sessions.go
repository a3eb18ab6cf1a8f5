package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"strconv"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

// Sessions is a handle for the sessions of the app. Sessions is safe for concurrent use.
type Sessions struct{ client *Client }

// Sessions returns the handle for the sessions of the app.
func (c *Client) Sessions() Sessions { return Sessions{c} }

// Start starts a session. If the request contains no session id, the service creates one. If the
// session is already open, Start changes its metadata and references. If the request contains a
// message, the service runs the app's default tool in the session. The response of Start then
// contains the Result of this run, even if the tool failed. An IdempotencyKey applies to the run of
// the default tool.
func (h Sessions) Start(ctx context.Context, start apitypes.SessionRequest, opts ...RunOption) (*apitypes.StartedSession, error) {
	return fetchWith[apitypes.StartedSession](ctx, h.client, newRun(opts, "sessions"), start)
}

// Get describes the caller's session.
func (h Sessions) Get(ctx context.Context, caller Caller) (*apitypes.Session, error) {
	return fetch[apitypes.Session](ctx, h.client, newRequest(http.MethodGet, "sessions", caller.Session).set("user_id", caller.User))
}

// SetMetadata changes the metadata of the caller's open session with a JSON Merge Patch (RFC 7396).
func (h Sessions) SetMetadata(ctx context.Context, caller Caller, patch json.RawMessage) (*apitypes.Session, error) {
	r := newRequest(http.MethodPatch, "sessions", caller.Session, "metadata").set("user_id", caller.User)
	r.text, r.media = patch, mediaPatch
	return fetch[apitypes.Session](ctx, h.client, r)
}

// End ends the caller's session and removes the records that end with the session. After the end,
// requests with this session id are rejected. If the session has already ended, End returns no
// error.
func (h Sessions) End(ctx context.Context, caller Caller) (*apitypes.Session, error) {
	r := newRequest(http.MethodDelete, "sessions", caller.Session).set("user_id", caller.User)
	r.repeatable = true
	return fetch[apitypes.Session](ctx, h.client, r)
}

// SessionQuery selects sessions. A field that is zero does not restrict the selection.
type SessionQuery struct {
	// User selects the sessions of a user. By default, List selects all sessions that the
	// credentials can see.
	User string
	// After is the value of the field Next of the previous page.
	After string
	// Limit is the maximum number of sessions in a page, up to 1,000. The default is 100.
	Limit int
}

// List returns a page of sessions, sorted by id.
func (h Sessions) List(ctx context.Context, q SessionQuery) (*apitypes.List[apitypes.Session], error) {
	r := newRequest(http.MethodGet, "sessions").set("user_id", q.User).set("after", q.After).set("limit", number(q.Limit))
	return fetch[apitypes.List[apitypes.Session]](ctx, h.client, r)
}

// All iterates over the sessions of all pages, starting with the page that q selects. An error ends
// the iteration.
func (h Sessions) All(ctx context.Context, q SessionQuery) iter.Seq2[apitypes.Session, error] {
	return pages(func(after string) (*apitypes.List[apitypes.Session], error) {
		q.After = after
		return h.List(ctx, q)
	}, q.After)
}

// pages iterates over the items of a list, page by page.
func pages[T any](page func(after string) (*apitypes.List[T], error), after string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for next := after; ; {
			list, err := page(next)
			if err == nil && list.Next != "" && list.Next == next {
				err = &Error{Fault: abi.Faultf(abi.Unavailable, "the service returned the same page twice")} // otherwise the loop would not end
			}
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range list.Items {
				if !yield(item, nil) {
					return
				}
			}
			if next = list.Next; next == "" {
				return
			}
		}
	}
}

// number formats a number for a query. If the number is 0, number returns "", which means the
// default.
func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
