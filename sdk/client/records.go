package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"strconv"

	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

// Records is a handle for the records of stores, which it reads and writes as an operator. It is safe for concurrent use.
type Records struct{ client *Client }

// Records returns the handle for the records of stores.
func (c *Client) Records() Records { return Records{c} }

// WriteOptions are the options of a write. The zero value writes the record unconditionally, with
// the retention of its store.
type WriteOptions struct {
	// IfRevision is the revision that the record must have, 0 if the record must not exist, nil for
	// any. Otherwise the call fails with abi.Conflict and the status 412.
	IfRevision *int64
	// TTL is the time to live of the record, such as 1h, if shorter than the retention of its
	// store.
	TTL string
}

// newRecordRequest returns a request for a record of the caller.
func newRecordRequest(method string, caller Caller, store string, ifRevision *int64) *request {
	r := newRequest(method, "stores", store, "record").set("user_id", caller.User).set("session_id", caller.Session)
	switch {
	case ifRevision == nil:
		r.repeatable = method != http.MethodPatch
	case *ifRevision == 0:
		r.header.Set("If-None-Match", "*")
	default:
		r.header.Set("If-Match", strconv.Quote(strconv.FormatInt(*ifRevision, 10)))
	}
	return r
}

// Get reads a record of the caller. A projection, a JSON object such as {"preferences.language":
// 1}, selects members of its content; nil selects all. If there is no record, the error is
// abi.NotFound.
func (h Records) Get(ctx context.Context, caller Caller, store string, projection json.RawMessage) (*apitypes.Record, error) {
	r := newRecordRequest(http.MethodGet, caller, store, nil).set("projection", string(projection))
	return fetch[apitypes.Record](ctx, h.client, r)
}

// Put replaces the content of a record, or creates it.
func (h Records) Put(ctx context.Context, caller Caller, store string, content json.RawMessage, opts WriteOptions) (*apitypes.Record, error) {
	r := newRecordRequest(http.MethodPut, caller, store, opts.IfRevision).set("ttl", opts.TTL)
	r.text, r.media = content, mediaJSON
	return fetch[apitypes.Record](ctx, h.client, r)
}

// Patch merges a patch (RFC 7396) into a record, or creates it.
func (h Records) Patch(ctx context.Context, caller Caller, store string, patch json.RawMessage, opts WriteOptions) (*apitypes.Record, error) {
	r := newRecordRequest(http.MethodPatch, caller, store, opts.IfRevision).set("ttl", opts.TTL)
	r.text, r.media = patch, mediaPatch
	return fetch[apitypes.Record](ctx, h.client, r)
}

// Delete deletes a record and reports whether there was one. ifRevision is as in WriteOptions.
func (h Records) Delete(ctx context.Context, caller Caller, store string, ifRevision *int64) (*apitypes.Deleted, error) {
	return fetch[apitypes.Deleted](ctx, h.client, newRecordRequest(http.MethodDelete, caller, store, ifRevision))
}

// PageQuery selects a page of a list. The zero value selects the first one.
type PageQuery struct {
	// After is the Next of the previous page.
	After string
	// Limit is the maximum number of items of a page, up to 1,000. Default: 100.
	Limit int
}

// List returns a page of the records of a store without their contents. If the caller has a user or
// a session, it lists only their records. A page may be shorter than the limit; there are more
// pages if Next is set.
func (h Records) List(ctx context.Context, caller Caller, store string, q PageQuery) (*apitypes.List[apitypes.RecordInfo], error) {
	r := newRequest(http.MethodGet, "stores", store, "records").set("user_id", caller.User).set("session_id", caller.Session).
		set("after", q.After).set("limit", number(q.Limit))
	return fetch[apitypes.List[apitypes.RecordInfo]](ctx, h.client, r)
}

// All iterates over the records of a store without their contents, page by page. If the caller has
// a user or a session, it covers only their records. An error ends the iteration.
func (h Records) All(ctx context.Context, caller Caller, store string) iter.Seq2[apitypes.RecordInfo, error] {
	return pages(func(after string) (*apitypes.List[apitypes.RecordInfo], error) {
		return h.List(ctx, caller, store, PageQuery{After: after})
	}, "")
}

// Purge removes all records of a store, which need not be declared, for all users and sessions. It
// returns their number.
func (h Records) Purge(ctx context.Context, store string) (int, error) {
	r := newRequest(http.MethodDelete, "stores", store, "records")
	r.repeatable = true
	removed, err := fetch[apitypes.Removed](ctx, h.client, r)
	if err != nil {
		return 0, err
	}
	return removed.Records, nil
}
