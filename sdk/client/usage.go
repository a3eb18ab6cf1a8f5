package client

import (
	"context"
	"iter"
	"net/http"
	"time"

	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

// Usage is a handle for the usage of apps. Usage is safe for concurrent use.
type Usage struct{ client *Client }

// Usage returns the handle for the usage of apps.
func (c *Client) Usage() Usage { return Usage{c} }

// UsageQuery selects usage. A field that is zero does not restrict the selection.
type UsageQuery struct {
	// Since and Until select the UTC days from the day of Since up to, but excluding, the day of
	// Until.
	Since, Until time.Time
	// After is the value of the field Next of the previous page.
	After string
	// Limit is the maximum number of apps in a page, up to 100. The default is 100.
	Limit int
}

// List returns a page of the usage of apps, sorted by tenant and app. List includes the apps of the
// key's tenant. With a key that has the role metering, List includes the apps of all tenants. If
// the client has an app, List includes only that app.
func (h Usage) List(ctx context.Context, q UsageQuery) (*apitypes.List[apitypes.AppUsage], error) {
	r := newRequest(http.MethodGet, "usage").set("since", day(q.Since)).set("until", day(q.Until)).
		set("after", q.After).set("limit", number(q.Limit))
	return fetch[apitypes.List[apitypes.AppUsage]](ctx, h.client, r)
}

// All iterates over all pages, starting with the page that q selects. An error ends the iteration.
func (h Usage) All(ctx context.Context, q UsageQuery) iter.Seq2[apitypes.AppUsage, error] {
	return pages(func(after string) (*apitypes.List[apitypes.AppUsage], error) {
		q.After = after
		return h.List(ctx, q)
	}, q.After)
}

// day formats the day of a time for a query. day returns "" for the zero time.
func day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}
