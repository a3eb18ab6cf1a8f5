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

// Sessions is a handle for the sessions of the app. It is safe for concurrent use.
type Sessions struct{ client *Client }

// Sessions returns the handle for the sessions of the app.
func (c *Client) Sessions() Sessions { return Sessions{c} }

// Start starts a session, with a new id where the request names none, or changes the metadata and references of
// one that is open. A message runs the app's default tool in it: the answer has the Result, which also reports if the tool
// failed, and an IdempotencyKey is that of the run.
func (h Sessions) Start(ctx context.Context, start apitypes.SessionRequest, opts ...RunOption) (*apitypes.StartedSession, error) {
	return fetchWith[apitypes.StartedSession](ctx, h.client, newRun(opts, "sessions"), start)
}

// Get describes the caller's session.
func (h Sessions) Get(ctx context.Context, caller Caller) (*apitypes.Session, error) {
	return fetch[apitypes.Session](ctx, h.client, newRequest(http.MethodGet, "sessions", caller.Session).set("user_id", caller.User))
}

// SetMetadata changes the metadata of the caller's session, which is open, by a merge patch (RFC 7396).
func (h Sessions) SetMetadata(ctx context.Context, caller Caller, patch json.RawMessage) (*apitypes.Session, error) {
	r := newRequest(http.MethodPatch, "sessions", caller.Session, "metadata").set("user_id", caller.User)
	r.text, r.media = patch, mediaPatch
	return fetch[apitypes.Session](ctx, h.client, r)
}

// End ends the caller's session: what lived with it is gone, and its id is refused from then on. Ending it again is
// fine.
func (h Sessions) End(ctx context.Context, caller Caller) (*apitypes.Session, error) {
	r := newRequest(http.MethodDelete, "sessions", caller.Session).set("user_id", caller.User)
	r.repeatable = true
	return fetch[apitypes.Session](ctx, h.client, r)
}

// SessionQuery says which sessions are listed. Zero fields ask for nothing.
type SessionQuery struct {
	// User is whose sessions are listed. Default: all that the credentials may see.
	User string
	// After is the Next of the page before.
	After string
	// Limit is how many a page has at most, up to 1,000. Default 100.
	Limit int
}

// List lists a page of sessions, sorted by their ids.
func (h Sessions) List(ctx context.Context, q SessionQuery) (*apitypes.List[apitypes.Session], error) {
	r := newRequest(http.MethodGet, "sessions").set("user_id", q.User).set("after", q.After).set("limit", number(q.Limit))
	return fetch[apitypes.List[apitypes.Session]](ctx, h.client, r)
}

// All goes over the sessions of all pages from q on. An error ends it.
func (h Sessions) All(ctx context.Context, q SessionQuery) iter.Seq2[apitypes.Session, error] {
	return pages(func(after string) (*apitypes.List[apitypes.Session], error) {
		q.After = after
		return h.List(ctx, q)
	}, q.After)
}

// pages goes over the items of a list, page after page.
func pages[T any](page func(after string) (*apitypes.List[T], error), after string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for next := after; ; {
			list, err := page(next)
			if err == nil && list.Next != "" && list.Next == next {
				err = &Error{Fault: abi.Faultf(abi.Unavailable, "the service answers with the same page again")} // for ever
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

// number writes a number for a query; "" for 0, which is the default.
func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
