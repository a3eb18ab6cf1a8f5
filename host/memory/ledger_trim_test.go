package memory_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/toolrun/toolrun/host/ledger"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/partition"
)

// A ledger that is larger than it may be loses its oldest entries, and counts in no quota.
func TestLedgerIsBounded(t *testing.T) {
	ctx := context.Background()
	a := newApp(t, func(cfg *memory.Config) {
		cfg.LedgerRetention, cfg.Limits.LedgerBytes, cfg.Limits.AppBytes = 24*time.Hour, 100_000, 1000
	})
	for i := range 1000 {
		a.clock.Advance(time.Millisecond)
		at := a.clock.Now()
		entry := ledger.Entry{Run: fmt.Sprintf("run_%06d", i), Act: "run", Tool: "t", User: "ann", At: at}
		if err := a.Ledger().Add(ctx, "acme", []ledger.Entry{entry}); err != nil {
			t.Fatal(err)
		}
	}
	count := func() (n int, first string) {
		entries, _, _, err := a.Ledger().Entries(ctx, "acme", ledger.Query{Limit: 2000})
		if err != nil || len(entries) == 0 {
			t.Fatal(err)
		}
		return len(entries), entries[0].Run
	}
	if n, _ := count(); n != 1000 {
		t.Fatalf("the ledger has %d entries; want 1,000", n)
	}
	for range 2 {
		if _, err := a.Sweep(ctx, "acme", 100); err != nil {
			t.Fatal(err)
		}
	}
	n, first := count()
	if n < 300 || n > 900 || first != fmt.Sprintf("run_%06d", 1000-n) {
		t.Errorf("after a sweep %d entries are left, the first of them %s", n, first)
	}
	a.must(partition.Caller{Tenant: "acme", User: "ann", Run: "r"}, "set_content", `"notes"`, `{"a":1}`)
}
