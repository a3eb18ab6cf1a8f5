package client

import (
	"context"
	"iter"
	"net/http"
	"time"

	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

// Ledger is a handle for the ledger of the app. Ledger is safe for concurrent use.
type Ledger struct{ client *Client }

// Ledger returns the handle for the ledger of the app.
func (c *Client) Ledger() Ledger { return Ledger{c} }

// LedgerQuery selects entries of the ledger. A field that is zero does not restrict the selection.
type LedgerQuery struct {
	// After is the value of the field Next of the previous page.
	After string
	// Since and Until select entries with a time at or after Since and before Until.
	Since, Until time.Time
	// User, Session, Workflow and Tool select entries with these values. Store selects entries of
	// runs that read or wrote the store.
	User, Session, Workflow, Tool, Store string
	// Writes selects entries that contain writes.
	Writes bool
	// Failed selects entries that have a fault code.
	Failed bool
	// Limit is the maximum number of entries in a page, up to 1,000. The default is 100.
	Limit int
}

// List returns a page of the ledger, oldest entries first. A page can contain fewer than Limit
// entries. If Next is set, another page follows.
func (h Ledger) List(ctx context.Context, q LedgerQuery) (*apitypes.List[apitypes.LedgerEntry], error) {
	r := newRequest(http.MethodGet, "ledger").set("after", q.After).set("limit", number(q.Limit)).
		set("user_id", q.User).set("session_id", q.Session).set("workflow_id", q.Workflow).set("tool", q.Tool).set("store", q.Store).
		set("since", stamp(q.Since)).set("until", stamp(q.Until))
	if q.Writes {
		r.set("writes", "true")
	}
	if q.Failed {
		r.set("failed", "true")
	}
	return fetch[apitypes.List[apitypes.LedgerEntry]](ctx, h.client, r)
}

// All iterates over the entries of all pages, starting with the page that q selects. An error ends
// the iteration.
func (h Ledger) All(ctx context.Context, q LedgerQuery) iter.Seq2[apitypes.LedgerEntry, error] {
	return pages(func(after string) (*apitypes.List[apitypes.LedgerEntry], error) {
		q.After = after
		return h.List(ctx, q)
	}, q.After)
}

// stamp formats a time for a query. stamp returns "" for the zero time.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}
