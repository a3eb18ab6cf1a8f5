package client

import (
	"context"
	"iter"
	"net/http"
	"time"

	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

// Ledger is a handle for the ledger of the app. It is safe for concurrent use.
type Ledger struct{ client *Client }

// Ledger returns the handle for the ledger of the app.
func (c *Client) Ledger() Ledger { return Ledger{c} }

// LedgerQuery selects entries of the ledger. Zero fields do not filter.
type LedgerQuery struct {
	// After is the Next of the previous page.
	After string
	// Since and Until bound the time of entries: from Since, before Until.
	Since, Until time.Time
	// User, Session, Tool and Store match those of the entry. Store matches stores that the entry
	// read or wrote.
	User, Session, Tool, Store string
	// Writes selects entries that wrote something.
	Writes bool
	// Failed selects entries that ended with a fault.
	Failed bool
	// Limit is the maximum number of entries of a page, up to 1,000. Default: 100.
	Limit int
}

// List returns a page of the ledger, oldest entries first. A page may be shorter than the limit;
// there are more pages if Next is set.
func (h Ledger) List(ctx context.Context, q LedgerQuery) (*apitypes.List[apitypes.LedgerEntry], error) {
	r := newRequest(http.MethodGet, "ledger").set("after", q.After).set("limit", number(q.Limit)).
		set("user_id", q.User).set("session_id", q.Session).set("tool", q.Tool).set("store", q.Store).
		set("since", stamp(q.Since)).set("until", stamp(q.Until))
	if q.Writes {
		r.set("writes", "true")
	}
	if q.Failed {
		r.set("failed", "true")
	}
	return fetch[apitypes.List[apitypes.LedgerEntry]](ctx, h.client, r)
}

// All iterates over the entries of all pages from q on. An error ends the iteration.
func (h Ledger) All(ctx context.Context, q LedgerQuery) iter.Seq2[apitypes.LedgerEntry, error] {
	return pages(func(after string) (*apitypes.List[apitypes.LedgerEntry], error) {
		q.After = after
		return h.List(ctx, q)
	}, q.After)
}

// stamp returns a time for a query, "" for none.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}
