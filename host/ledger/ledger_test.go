package ledger_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/ledger"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/records"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// start is the time of the first entry in the tests.
var start = time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)

// open returns a ledger and the database of its records. The ledger has a limit of 100,000 bytes
// and a retention of one day.
func open(now *time.Time) (*ledger.Ledger, *records.DB) {
	db := records.New(records.Config{App: "shop", Backend: mem.New(), Now: func() time.Time { return *now }})
	return ledger.New(db, ledger.Config{
		Retention: 24 * time.Hour, MaxBytes: 100_000,
		Redact: func(w report.WriteEffect) []abi.Violation { return w.Violations },
	}), db
}

func add(t *testing.T, l *ledger.Ledger, entries ...ledger.Entry) {
	t.Helper()
	if err := l.Add(t.Context(), "acme", entries); err != nil {
		t.Fatal(err)
	}
}

func entries(t *testing.T, l *ledger.Ledger) []ledger.Entry {
	t.Helper()
	found, _, more, err := l.Entries(t.Context(), "acme", ledger.Query{Limit: 2000})
	if err != nil || more {
		t.Fatalf("Entries: err = %v, more = %t; want nil and false", err, more)
	}
	return found
}

// If a ledger exceeds its limit, Trim removes the oldest entries. Trim stops when the size is nine
// tenths of the limit.
func TestTrim(t *testing.T) {
	now := start
	l, db := open(&now)
	for i := range 1000 {
		now = now.Add(time.Millisecond)
		add(t, l, ledger.Entry{Run: fmt.Sprintf("run_%06d", i), Act: "run", Tool: "t", User: "ann", At: now})
	}
	if n := len(entries(t, l)); n != 1000 {
		t.Fatalf("the ledger has %d entries; want 1,000", n)
	}
	for range 2 {
		if err := l.Trim(t.Context(), "acme"); err != nil {
			t.Fatal(err)
		}
	}
	left := entries(t, l)
	if len(left) == 0 || left[0].Run != fmt.Sprintf("run_%06d", 1000-len(left)) {
		t.Fatalf("the entries left are %d: %v; want the newest ones", len(left), left)
	}
	size := int64(0)
	err := db.ScanHeads(t.Context(), l.Prefix(partition.Caller{Tenant: "acme"}), func(heads []storage.Head) error {
		for _, h := range heads {
			size += h.Size()
		}
		return nil
	})
	if err != nil || size > 90_000 || size < 89_000 {
		t.Errorf("the ledger has %d bytes, %v; want nine tenths of 100,000", size, err)
	}
}

// An entry that is added after its user or session was erased contains neither the user nor the
// session.
func TestAddAfterErasure(t *testing.T) {
	now := start
	l, db := open(&now)
	ann := partition.Caller{Tenant: "acme", User: "ann", Session: "s1"}
	for _, key := range []storage.Key{db.App.Erased(ann), db.App.ErasedSession(ann)} {
		err := records.Swap(t.Context(), db.Backend, key, func(r storage.Record) ([]storage.Write, error) {
			return db.Write(nil, r, key, struct{}{}, now.Add(time.Hour), partition.Caller{})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	before, after := now.Add(-time.Second), now.Add(time.Second)
	add(t, l,
		ledger.Entry{Run: "run_1", User: "ann", Session: "s9", At: before},
		ledger.Entry{Run: "run_2", User: "ann", Session: "s2", At: after},
		ledger.Entry{Run: "run_3", Session: "s1", At: before},
		ledger.Entry{Run: "run_4", User: "bob", Session: "s3", At: before},
	)
	var got []string
	for _, e := range entries(t, l) {
		got = append(got, e.Run+" "+e.User+" "+e.Session)
	}
	if want := "run_1  , run_2 ann s2, run_3  , run_4 bob s3"; strings.Join(got, ", ") != want {
		t.Errorf("the entries are %q; want %q", strings.Join(got, ", "), want)
	}
}

// Add does not change an entry that a commit has added. An entry has a limited number of
// violations.
func TestAddOnce(t *testing.T) {
	now := start
	l, _ := open(&now)
	add(t, l, ledger.Entry{Run: "run_1", Tool: "first", At: now, Writes: []report.WriteEffect{{Store: "notes", Violations: make([]abi.Violation, 30)}}})
	add(t, l, ledger.Entry{Run: "run_1", Tool: "second", At: now})
	found := entries(t, l)
	if len(found) != 1 || found[0].Tool != "first" || len(found[0].Writes) != 1 || len(found[0].Writes[0].Violations) != 20 {
		t.Errorf("the entries are %+v; want the first one, with 20 violations", found)
	}
	if now = now.Add(25 * time.Hour); len(entries(t, l)) != 0 {
		t.Error("an entry is listed after its retention")
	}
}

// A ledger without a retention keeps no entries.
func TestNoLedger(t *testing.T) {
	l := ledger.New(records.New(records.Config{App: "shop", Backend: mem.New()}), ledger.Config{})
	add(t, l, ledger.Entry{Run: "run_1", At: start})
	if l.Enabled() || len(entries(t, l)) != 0 {
		t.Errorf("Enabled = %t, and the ledger has %d entries; want false and 0", l.Enabled(), len(entries(t, l)))
	}
}
