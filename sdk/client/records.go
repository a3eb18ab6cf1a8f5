package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"strconv"

	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

// Records is a handle for the records of stores. Records reads and writes records with the rights
// of an operator. Records is safe for concurrent use.
type Records struct{ client *Client }

// Records returns the handle for the records of stores.
func (c *Client) Records() Records { return Records{c} }

// WriteOptions are the options of a write. With the zero value, the write is unconditional and the
// retention of the store applies.
type WriteOptions struct {
	// IfRevision is the revision that the record must have. If IfRevision is 0, the record must not
	// exist. If IfRevision is nil, every revision is allowed. If the record has another revision
	// than IfRevision, the call fails with abi.Conflict and the HTTP status 412.
	IfRevision *int64
	// TTL is the time to live of the record, such as 1h. TTL applies only if it is shorter than the
	// retention of the store.
	TTL string
}

// newRecordRequest returns a request for a record of the caller.
func newRecordRequest(method string, caller Caller, store string, ifRevision *int64) *request {
	r := newRequest(method, "stores", store, "record").set("user_id", caller.User).set("session_id", caller.Session)
	r.requireRevision(ifRevision)
	return r
}

// requireRevision sets the precondition of a write, unless the revision is nil. A request without a
// precondition can be repeated, unless it is a merge.
func (r *request) requireRevision(ifRevision *int64) {
	switch {
	case ifRevision == nil:
		r.repeatable = r.method != http.MethodPatch
	case *ifRevision == 0:
		r.header.Set("If-None-Match", "*")
	default:
		r.header.Set("If-Match", strconv.Quote(strconv.FormatInt(*ifRevision, 10)))
	}
}

// Get reads a record of the caller. The projection, a JSON object such as {"preferences.language":
// 1}, selects members of the record's content. A nil projection selects the whole content. If the
// record does not exist, the error is abi.NotFound.
func (h Records) Get(ctx context.Context, caller Caller, store string, projection json.RawMessage) (*apitypes.Record, error) {
	r := newRecordRequest(http.MethodGet, caller, store, nil).set("projection", string(projection))
	return fetch[apitypes.Record](ctx, h.client, r)
}

// Put replaces the content of a record. If the record does not exist, Put creates it.
func (h Records) Put(ctx context.Context, caller Caller, store string, content json.RawMessage, opts WriteOptions) (*apitypes.Record, error) {
	r := newRecordRequest(http.MethodPut, caller, store, opts.IfRevision).set("ttl", opts.TTL)
	r.text, r.media = content, mediaJSON
	return fetch[apitypes.Record](ctx, h.client, r)
}

// Patch merges a JSON Merge Patch (RFC 7396) into a record. If the record does not exist, Patch
// creates it.
func (h Records) Patch(ctx context.Context, caller Caller, store string, patch json.RawMessage, opts WriteOptions) (*apitypes.Record, error) {
	r := newRecordRequest(http.MethodPatch, caller, store, opts.IfRevision).set("ttl", opts.TTL)
	r.text, r.media = patch, mediaPatch
	return fetch[apitypes.Record](ctx, h.client, r)
}

// Delete deletes a record and reports whether it existed. The argument "ifRevision" has the same
// meaning as in WriteOptions.
func (h Records) Delete(ctx context.Context, caller Caller, store string, ifRevision *int64) (*apitypes.Deleted, error) {
	return fetch[apitypes.Deleted](ctx, h.client, newRecordRequest(http.MethodDelete, caller, store, ifRevision))
}

// PageQuery selects a page of a list. The zero value of PageQuery selects the first page.
type PageQuery struct {
	// After is the value of the field Next of the previous page.
	After string
	// Limit is the maximum number of items in a page, up to 1,000. The default is 100.
	Limit int
}

// List returns a page of the records of a store, without their contents. If the caller has a user
// or a session, List returns only records of this user or session. A page can contain fewer than
// Limit records. If Next is set, another page follows.
func (h Records) List(ctx context.Context, caller Caller, store string, q PageQuery) (*apitypes.List[apitypes.RecordInfo], error) {
	r := newRequest(http.MethodGet, "stores", store, "records").set("user_id", caller.User).set("session_id", caller.Session).
		set("after", q.After).set("limit", number(q.Limit))
	return fetch[apitypes.List[apitypes.RecordInfo]](ctx, h.client, r)
}

// All iterates over the records of a store, without their contents. If the caller has a user or a
// session, All returns only records of this user or session. An error ends the iteration.
func (h Records) All(ctx context.Context, caller Caller, store string) iter.Seq2[apitypes.RecordInfo, error] {
	return pages(func(after string) (*apitypes.List[apitypes.RecordInfo], error) {
		return h.List(ctx, caller, store, PageQuery{After: after})
	}, "")
}

// Purge removes all records of a store, for all users and sessions, and returns their number. The
// app does not need to declare the store.
func (h Records) Purge(ctx context.Context, store string) (int, error) {
	r := newRequest(http.MethodDelete, "stores", store, "records")
	r.repeatable = true
	removed, err := fetch[apitypes.Removed](ctx, h.client, r)
	if err != nil {
		return 0, err
	}
	return removed.Records, nil
}
