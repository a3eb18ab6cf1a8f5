package client

import (
	"context"
	"iter"
	"net/http"
	"time"

	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

// LedgerQuery says which entries of the ledger are looked for. Zero fields ask for nothing.
type LedgerQuery struct {
	// After is the Next of the page before.
	After string
	// Since and Until bound the time: from Since, before Until.
	Since, Until time.Time
	// User, Session, Tool and Store are those of the entry; a store is one that it read or wrote.
	User, Session, Tool, Store string
	// Writes asks for entries that wrote something.
	Writes bool
	// Failed asks for entries that ended with a fault.
	Failed bool
	// Limit is how many a page has at most, up to 1,000. Default 100.
	Limit int
}

// Ledger reads a page of the ledger, oldest entries first. A page may hold less than was asked for; there is more as long
// as it has a Next.
func (c *Client) Ledger(ctx context.Context, q LedgerQuery) (*apitypes.List[apitypes.LedgerEntry], error) {
	r := newRequest(http.MethodGet, "ledger").set("after", q.After).set("limit", number(q.Limit)).
		set("user_id", q.User).set("session_id", q.Session).set("tool", q.Tool).set("store", q.Store).
		set("since", stamp(q.Since)).set("until", stamp(q.Until))
	if q.Writes {
		r.set("writes", "true")
	}
	if q.Failed {
		r.set("failed", "true")
	}
	return fetch[apitypes.List[apitypes.LedgerEntry]](ctx, c, r)
}

// LedgerEntries goes over the entries of all pages from q on. An error ends it.
func (c *Client) LedgerEntries(ctx context.Context, q LedgerQuery) iter.Seq2[apitypes.LedgerEntry, error] {
	return pages(func(after string) (*apitypes.List[apitypes.LedgerEntry], error) {
		q.After = after
		return c.Ledger(ctx, q)
	}, q.After)
}

// stamp writes a time for a query; "" for none.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}
