package memory_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/ledger"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/session"
	"github.com/toolrun/toolrun/host/storage"
)

// The type contents is a backend that counts the bytes of record contents that lists read: the
// total of all reads, and the maximum of a single read.
type contents struct {
	storage.Backend
	bytes, max int
}

func (c *contents) count(found []storage.Record, err error) ([]storage.Record, error) {
	n := 0
	for _, r := range found {
		n += len(r.Content)
	}
	c.bytes, c.max = c.bytes+n, max(c.max, n)
	return found, err
}

func (c *contents) Get(ctx context.Context, keys ...storage.Key) ([]storage.Record, error) {
	return c.count(c.Backend.Get(ctx, keys...))
}

func (c *contents) Scan(ctx context.Context, prefix, after storage.Key, limit int) ([]storage.Record, error) {
	return c.count(c.Backend.Scan(ctx, prefix, after, limit))
}

// A page of sessions ends at 1 MiB of contents, even if the limit allows more sessions. All pages
// together contain all sessions in order. A page whose session is larger than 1 MiB contains no
// other session.
func TestPagesOfSessionsAreBounded(t *testing.T) {
	c := &contents{}
	a := newApp(t, func(cfg *memory.Config) { c.Backend, cfg.Backend = cfg.Backend, c })
	const sessions, large, limit = 15, 200 << 10, 1 << 20
	metadata := []byte(fmt.Sprintf(`{"a":%q}`, strings.Repeat("x", large)))
	for i := range sessions {
		who := partition.Caller{Tenant: "acme", User: "ann", Session: fmt.Sprintf("s%02d", i), Run: "r"}
		if _, err := a.Sessions().Start(t.Context(), who, session.Start{Metadata: metadata}); err != nil {
			t.Fatal(err)
		}
	}
	for _, user := range []string{"", "ann"} {
		seen := 0
		for after := ""; ; {
			c.bytes = 0
			found, next, err := a.Sessions().List(t.Context(), partition.Caller{Tenant: "acme", User: user}, after, 1000)
			if err != nil {
				t.Fatal(err)
			}
			if c.bytes > limit+large*2 {
				t.Fatalf("a page of the user %q read %d bytes of contents; want %d and one session", user, c.bytes, limit)
			}
			bytes := 0
			for _, session := range found {
				bytes += len(session.Metadata)
				if want := fmt.Sprintf("s%02d", seen); session.ID != want {
					t.Fatalf("the session after %q is %q; want %q", after, session.ID, want)
				}
				seen++
			}
			if len(found) == 0 || bytes > limit {
				t.Fatalf("a page of the user %q has %d sessions of %d bytes; want at least one, and at most %d", user, len(found), bytes, limit)
			}
			if after = next; next == "" {
				break
			}
		}
		if seen != sessions {
			t.Errorf("the pages of the user %q have %d sessions; want %d", user, seen, sessions)
		}
	}
}

// If the limit is small, a list reads only the records of the page and one additional record. If
// the additional record exists, another page follows.
func TestShortPagesReadLittle(t *testing.T) {
	l := &looks{}
	a := newApp(t, func(cfg *memory.Config) { l.Backend, cfg.Backend = cfg.Backend, l })
	for i := range 50 {
		a.must(partition.Caller{Tenant: "acme", User: fmt.Sprintf("u%02d", i), Run: "r"}, abi.SetContent, `"notes"`, `{}`)
	}
	l.n = 0
	found, next, err := a.List(t.Context(), partition.Caller{Tenant: "acme"}, "notes", "", 2)
	if err != nil || len(found) != 2 || next == "" || l.n > 3 {
		t.Errorf("a page with the limit 2 has %d records, the cursor %q and the error %v after reading %d records; want 2 records and a cursor after reading 3", len(found), next, err, l.n)
	}
}

// A page of the ledger also ends at 1 MiB of contents. While the ledger is listed, no single read
// exceeds 1 MiB.
func TestPagesOfTheLedgerAreBounded(t *testing.T) {
	c := &contents{}
	a := newApp(t, func(cfg *memory.Config) { c.Backend, cfg.Backend, cfg.LedgerRetention = cfg.Backend, c, time.Hour })
	const entries, large, limit = 40, 100 << 10, 1 << 20
	for i := range entries {
		e := ledger.Entry{Run: fmt.Sprintf("run_%02d", i), Act: "run", Reads: []report.ReadEffect{{Store: strings.Repeat("x", large)}}}
		if err := a.Ledger().Add(t.Context(), "acme", []ledger.Entry{e}); err != nil {
			t.Fatal(err)
		}
	}
	seen := 0
	for after := ""; ; {
		c.max = 0
		found, next, more, err := a.Ledger().Entries(t.Context(), "acme", ledger.Query{After: after, Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		if c.max > limit || len(found) == 0 || len(found)*large > limit {
			t.Fatalf("a page has %d entries and read %d bytes at a time; want at least one, and at most %d bytes", len(found), c.max, limit)
		}
		for _, e := range found {
			if want := fmt.Sprintf("run_%02d", seen); e.Run != want {
				t.Fatalf("the entry after %q is %q; want %q", after, e.Run, want)
			}
			seen++
		}
		if after = next; !more {
			break
		}
	}
	if seen != entries {
		t.Errorf("the pages have %d entries; want %d", seen, entries)
	}
}
