package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/metering"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/bolt"
)

// TestUsage runs tools for two tenants on two days, and checks the totals after the host is closed.
func TestUsage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memory.db")
	db, err := bolt.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 21, 23, 59, 0, 0, time.UTC)
	b := &bill{}
	h := openTool(t, `await memory.set_content("notes", {a: input.fail ? Symbol() : 1}); return 7`, func(o *host.Options) {
		o.Backend, o.Observers, o.Metering, o.Now = db, []host.Observer{b}, 30*24*time.Hour, func() time.Time { return now }
	})
	invoke := func(tenant string, inv host.Invocation) {
		inv.Tool, inv.Caller = "tool", host.Caller{Tenant: tenant, User: "ann"}
		_, _ = h.Run(t.Context(), inv)
	}
	invoke("acme", host.Invocation{Key: "k"})
	invoke("acme", host.Invocation{Key: "k"})
	invoke("acme", host.Invocation{Input: json.RawMessage(`{"fail":true}`)})
	invoke("globex", host.Invocation{})
	now = now.Add(2 * time.Minute)
	invoke("acme", host.Invocation{Input: json.RawMessage(`7`)})
	b.refuse = errors.New("over the plan")
	invoke("acme", host.Invocation{})
	if err := h.Close(); err != nil { // writes the pending usage
		t.Fatal(err)
	}
	found, next, err := metering.List(t.Context(), db, metering.Query{Limit: 10})
	if err != nil || len(found) != 3 || next != "" || found[2].Tenant != host.DefaultTenant || found[2].Runs != 0 {
		t.Fatalf("Usage = %+v, %q, %v; want two tenants, and the default one without runs", found, next, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	got := found[0]
	if got.StoredRecords != 1 || got.StoredBytes < 10 || got.CPUMS < 0 {
		t.Errorf("acme stores %d records, %d bytes and used %v ms; want 1 record", got.StoredRecords, got.StoredBytes, got.CPUMS)
	}
	got.StoredBytes, got.StoredRecords, got.CPUMS = 0, 0, 0
	if want := (metering.Usage{Tenant: "acme", App: h.App().ID, Runs: 2, Failed: 1, Repeated: 1, Refused: 1, NotStarted: 1}); got != want {
		t.Errorf("acme used %+v; want %+v", got, want)
	}
	if found[1].Tenant != "globex" || found[1].Runs != 1 {
		t.Errorf("the second tenant used %+v; want a run of globex", found[1])
	}
	report, err := bolt.Check(path)
	if err != nil || !report.OK() {
		t.Errorf("Check = %+v, %v; want a valid file", report, err)
	}
}

// TestUsageOfDays queries the usage of various ranges of days on an open host.
func TestUsageOfDays(t *testing.T) {
	first := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	now := first
	h := openTool(t, `return 7`, func(o *host.Options) { o.Metering, o.Now = 10*24*time.Hour, func() time.Time { return now } })
	for day := range 5 {
		now = first.AddDate(0, 0, day)
		for range day + 1 {
			if _, err := h.Run(t.Context(), host.Invocation{Tool: "tool"}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, tt := range []struct {
		since, until time.Time
		want         int64
	}{
		{want: 15}, {since: first.AddDate(0, 0, 3), want: 9}, {until: first.AddDate(0, 0, 2), want: 3},
		{since: first.AddDate(0, 0, 1), until: first.AddDate(0, 0, 2), want: 2}, {since: first.AddDate(0, 0, 5), want: 0},
	} {
		got, err := h.Meter().Usage(t.Context(), host.Caller{}, tt.since, tt.until)
		if err != nil || got.Runs != tt.want {
			t.Errorf("Usage from %v until %v = %+v, %v; want %d runs", tt.since, tt.until, got, err, tt.want)
		}
	}
}

// flaky is a backend whose commits a test can make fail.
type flaky struct {
	storage.Backend
	err error
}

func (f *flaky) Update(ctx context.Context, on storage.Footprint, fn func([]storage.Record) ([]storage.Write, error)) error {
	if f.err != nil {
		return f.err
	}
	return f.Backend.Update(ctx, on, fn)
}

// TestUsageOutlivesAFailure makes the backend fail while usage is written. No usage may be lost. If
// it is unknown whether some usage was written, this usage must not be counted twice.
func TestUsageOutlivesAFailure(t *testing.T) {
	var db *flaky
	h := openTool(t, `return 7`, func(o *host.Options) {
		db = &flaky{Backend: o.Backend}
		o.Backend, o.Metering = db, time.Hour
	})
	again := func() {
		t.Helper()
		if _, err := h.Run(t.Context(), host.Invocation{Tool: "tool"}); err != nil {
			t.Fatal(err)
		}
	}
	again()
	db.err = errors.New("the disk is gone")
	if err := h.Meter().Flush(); err == nil {
		t.Error("Flush on a failing backend = nil; want an error")
	}
	db.err = nil
	again()
	if got, err := h.Meter().Usage(t.Context(), host.Caller{}, time.Time{}, time.Time{}); err != nil || got.Runs != 2 {
		t.Errorf("Usage after a failure = %+v, %v; want 2 runs", got, err)
	}
	again()
	db.err = storage.ErrUnknownOutcome
	_ = h.Meter().Flush()
	db.err = nil
	if got, err := h.Meter().Usage(t.Context(), host.Caller{}, time.Time{}, time.Time{}); err != nil || got.Runs != 2 {
		t.Errorf("Usage after an unknown outcome = %+v, %v; want 2 runs", got, err)
	}
}

// TestUsageIsInNoQuota checks that the stored size is the same with and without metering.
func TestUsageIsInNoQuota(t *testing.T) {
	var stored []int64
	for _, retention := range []time.Duration{0, time.Hour} {
		h := openTool(t, `await memory.set_content("notes", {a: 1}); return 7`, func(o *host.Options) { o.Metering = retention })
		if _, err := run(h, host.Invocation{}); err != nil {
			t.Fatal(err)
		}
		got, err := h.Meter().Usage(t.Context(), ann, time.Time{}, time.Time{})
		if err != nil || got.Runs != int64(retention/time.Hour) {
			t.Fatalf("Usage = %+v, %v", got, err)
		}
		stored = append(stored, got.StoredBytes)
	}
	if stored[0] != stored[1] {
		t.Errorf("the app stores %d bytes, and %d if it is metered; want the same", stored[0], stored[1])
	}
}

// TestUsageOfModels checks the number of counted tokens. The tokens of successful and failed runs
// must be counted, but not the tokens in a repeated Result.
func TestUsageOfModels(t *testing.T) {
	h, _ := openModelTool(t, ask+`await ask("hello"); if ($n) throw new Error("late")`, inProcess, declareInputs, func(o *host.Options) { o.Metering = 24 * time.Hour })
	for _, inv := range []host.Invocation{{Key: "k"}, {Key: "k"}, {Input: json.RawMessage(`{"n": 1}`)}} {
		inv.Tool, inv.Caller = "tool", host.Caller{User: "ann"}
		_, _ = h.Run(t.Context(), inv)
	}
	got, err := h.Meter().Usage(t.Context(), host.Caller{}, time.Time{}, time.Time{})
	if err != nil || got.Runs != 2 || got.ModelCalls != 2 || got.InputTokens != 2 || got.OutputTokens != 4 {
		t.Errorf("Usage = %+v, %v; want 2 calls with 2 input and 4 output tokens", got, err)
	}
}

// ends is an observer that records the workflows that were ended.
type ends struct {
	host.NopObserver
	workflows []string
}

func (e *ends) WorkflowEnded(_ context.Context, c host.Caller) {
	e.workflows = append(e.workflows, c.Workflow)
}

// TestWorkflowEndIsObserved ends a workflow that does not exist, and then a workflow that exists.
// The observer must not be called for the workflow that does not exist.
func TestWorkflowEndIsObserved(t *testing.T) {
	seen := &ends{}
	h := openTool(t, `return 1`, func(o *host.Options) { o.Observers = []host.Observer{seen} })
	c := host.Caller{User: "ann", Workflow: "w1"}
	if _, err := run(h, host.Invocation{Caller: c}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Workflows().End(t.Context(), host.Caller{Workflow: "w2"}); err == nil {
		t.Error("End of an unknown workflow = nil; want an error")
	}
	if _, err := h.Workflows().End(t.Context(), c); err != nil || len(seen.workflows) != 1 || seen.workflows[0] != "w1" {
		t.Errorf("End = %v, observed %v; want w1", err, seen.workflows)
	}
}
