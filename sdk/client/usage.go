package client

import (
	"context"
	"iter"
	"net/http"
	"time"

	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

// Usage is a handle for the usage of apps. It is safe for concurrent use.
type Usage struct{ client *Client }

// Usage returns the handle for the usage of apps.
func (c *Client) Usage() Usage { return Usage{c} }

// UsageQuery says which usage is looked for. Zero fields ask for nothing.
type UsageQuery struct {
	// Since and Until bound the days, in UTC: from that of Since on, before that of Until.
	Since, Until time.Time
	// After is the Next of the page before.
	After string
	// Limit is how many apps a page has at most, up to 100. Default 100.
	Limit int
}

// List reads a page of what apps use, in the order of tenants and apps: those of the key's tenant or, for a key of role
// metering, of all tenants. It is about the client's app alone if the client has one.
func (h Usage) List(ctx context.Context, q UsageQuery) (*apitypes.List[apitypes.AppUsage], error) {
	r := newRequest(http.MethodGet, "usage").set("since", day(q.Since)).set("until", day(q.Until)).
		set("after", q.After).set("limit", number(q.Limit))
	return fetch[apitypes.List[apitypes.AppUsage]](ctx, h.client, r)
}

// All goes over all pages from q on. An error ends it.
func (h Usage) All(ctx context.Context, q UsageQuery) iter.Seq2[apitypes.AppUsage, error] {
	return pages(func(after string) (*apitypes.List[apitypes.AppUsage], error) {
		q.After = after
		return h.List(ctx, q)
	}, q.After)
}

// day writes the day of a time for a query; "" for none.
func day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}
