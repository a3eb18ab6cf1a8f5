package memory_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/artifact"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/session"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/mem"
)

var bob = partition.Caller{Tenant: "acme", User: "bob", Session: "s2", Run: "r"}

// All data that the host stores for a user count toward the limit of this user. The data of one
// user do not affect the limits of other users.
func TestUserQuota(t *testing.T) {
	large := strings.Repeat("x", 20_000)
	for _, test := range []struct {
		name string
		keep func(a *app, c partition.Caller, n int) error
	}{
		{"records of sessions", func(a *app, c partition.Caller, n int) error {
			c.Session = fmt.Sprint(c.User, n)
			_, err := a.do(c, abi.SetContent, `"cart"`, `{"a":"`+large+`"}`)
			return err
		}},
		{"metadata", func(a *app, c partition.Caller, n int) error {
			c.Session = fmt.Sprint(c.User, n)
			_, err := a.Sessions().Start(context.Background(), c, session.Start{Metadata: json.RawMessage(`{"a":"` + large + `"}`)})
			return err
		}},
		{"files", func(a *app, c partition.Caller, n int) error {
			c.Session = fmt.Sprint(c.User, n)
			_, err := a.Artifacts().Add(context.Background(), c, artifact.Upload{ID: c.Session, Content: []byte(large)})
			return err
		}},
		{"texts of files", func(a *app, c partition.Caller, n int) error {
			c.Session = fmt.Sprint(c.User, n)
			_, err := a.Artifacts().Add(context.Background(), c, artifact.Upload{ID: c.Session, Text: &large})
			return err
		}},
		{"kept results", func(a *app, c partition.Caller, n int) error {
			_, err := a.Transact(context.Background(), &memory.Tx{Caller: c, Key: fmt.Sprint("k", n), Fingerprint: "f",
				Answer: func(report.Effects) ([]byte, error) { return []byte(`"` + large + `"`), nil }},
				func(context.Context, *memory.View) error { return nil })
			return err
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := newApp(t, func(cfg *memory.Config) { cfg.Limits.UserBytes = 100_000 })
			kept := 0
			for ; kept < 10; kept++ {
				err := test.keep(a, ann, kept)
				if errors.Is(err, abi.QuotaExceeded) && strings.Contains(err.Error(), "the quota of the user (100000 bytes)") {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if kept != 4 {
				t.Errorf("the user stored 20,000 bytes %d times with a quota of 100,000; want 4 times", kept)
			}
			if err := test.keep(a, bob, 0); err != nil {
				t.Errorf("another user = %v", err)
			}
			if _, err := a.Erase(context.Background(), ann); err != nil {
				t.Fatal(err)
			}
			later := partition.Caller{Tenant: "acme", User: "ann", Session: "later", Run: "r"}
			if err := test.keep(a, later, 100); err != nil {
				t.Errorf("after the erasure: %v", err)
			}
		})
	}
}

// The limit of the app bounds the total size of the data of all users.
func TestAppQuota(t *testing.T) {
	a := newApp(t, func(cfg *memory.Config) { cfg.Limits.AppBytes, cfg.Limits.UserBytes = 100_000, 60_000 })
	file := bytes.Repeat([]byte("x"), 50_000)
	for i, want := range []error{nil, abi.QuotaExceeded} {
		c := partition.Caller{Tenant: "acme", User: fmt.Sprint("u", i), Session: fmt.Sprint("s", i), Run: "r"}
		if _, err := a.Artifacts().Add(context.Background(), c, artifact.Upload{ID: c.User, Content: file}); !errors.Is(err, want) {
			t.Errorf("file %d of 50,000 bytes: %v; want %v", i, err, want)
		}
	}
	other := partition.Caller{Tenant: "rival", User: "u", Session: "s", Run: "r"}
	if _, err := a.Artifacts().Add(context.Background(), other, artifact.Upload{ID: "x", Content: file}); err != nil {
		t.Errorf("another tenant: %v", err)
	}
}

// An expired record does not count toward the quota, although the record can remain for an hour
// until a sweep removes it. Expired records of the host also do not count.
func TestExpiredRecordsAreReclaimed(t *testing.T) {
	a := newApp(t, func(cfg *memory.Config) { cfg.Limits.UserBytes = 10_000 })
	c := partition.Caller{Tenant: "acme", User: "ann", Run: "r"}
	large := `{"a":"` + strings.Repeat("x", 8000) + `"}`
	for range 5 {
		a.must(c, abi.SetContent, `"notes"`, large, `{"ttl":"10s"}`)
		a.clock.Advance(9 * time.Second)
		a.wantFault(abi.QuotaExceeded, c, abi.SetContent, `"daily"`, large, `{"ttl":"1s"}`)
		a.clock.Advance(time.Second)
		a.must(c, abi.SetContent, `"daily"`, large, `{"ttl":"1s"}`)
		a.clock.Advance(time.Second)
		c.Session = fmt.Sprint("s", a.clock.Now().Unix())
		metadata := json.RawMessage(`{"a":"` + strings.Repeat("x", 1000) + `"}`)
		if _, err := a.Sessions().Start(context.Background(), c, session.Start{Metadata: metadata}); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Sessions().End(context.Background(), c); err != nil {
			t.Fatal(err)
		}
		c.Session = ""
	}
}

// full is a backend without free space.
type full struct{ storage.Backend }

func (full) Space() error { return storage.ErrFull }

// If the backend has no free space, new data cannot be stored, but all data can be removed.
func TestBackendFull(t *testing.T) {
	b := mem.New()
	before := newApp(t, func(cfg *memory.Config) { cfg.Backend = b })
	before.must(ann, abi.SetContent, `"notes"`, `{"a":1}`)
	before.must(ann, abi.SetContent, `"cart"`, `{"a":1}`)
	a := newApp(t, func(cfg *memory.Config) { cfg.Backend = full{b} })
	a.want(ann, `"notes"`, `{"a":1}`)
	a.wantFault(abi.Unavailable, ann, abi.SetContent, `"notes"`, `{"b":1}`)
	a.wantFault(abi.Unavailable, ann, abi.SetContent, `"flags"`, `{"b":1}`)
	if _, err := a.Artifacts().Add(context.Background(), ann, artifact.Upload{ID: "f", Content: []byte("x")}); !errors.Is(err, abi.Unavailable) {
		t.Errorf("an upload to a full backend = %v", err)
	}
	if _, err := a.Sessions().Start(context.Background(), bob, session.Start{}); !errors.Is(err, abi.Unavailable) {
		t.Errorf("a session on a full backend = %v", err)
	}
	a.must(ann, abi.DeleteContent, `"notes"`)
	erased, err := a.Erase(context.Background(), ann)
	if err != nil || erased.Records != 1 || erased.Sessions != 1 {
		t.Errorf("an erasure on a full backend = %+v, %v", erased, err)
	}
}

// If an erasure removes the Results of the user's sessions, it also counts these Results.
func TestErasureCountsKeptResults(t *testing.T) {
	a := newApp(t)
	for i := range 4 {
		c := ann
		if i == 0 {
			c.Session = ""
		}
		_, err := a.Transact(context.Background(), &memory.Tx{Caller: c, Key: fmt.Sprint("k", i), Fingerprint: "f",
			Answer: func(report.Effects) ([]byte, error) { return []byte(`{}`), nil }},
			func(context.Context, *memory.View) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
	}
	erased, err := a.Erase(context.Background(), ann)
	if err != nil || erased.Runs != 4 || erased.Sessions != 1 {
		t.Errorf("Erase = %+v, %v; want 4 runs of 1 session", erased, err)
	}
}

// Each anonymous session has a separate quota. Therefore one visitor cannot exhaust the quota of
// the app.
func TestAnonymousQuota(t *testing.T) {
	a := newApp(t, func(cfg *memory.Config) { cfg.Limits.AppBytes, cfg.Limits.UserBytes = 1_000_000, 100_000 })
	file := bytes.Repeat([]byte("x"), 60_000)
	visitor := partition.Caller{Tenant: "acme", Session: "v1", Run: "r"}
	for i, want := range []error{nil, abi.QuotaExceeded} {
		if _, err := a.Artifacts().Add(context.Background(), visitor, artifact.Upload{ID: fmt.Sprint("f", i), Content: file}); !errors.Is(err, want) {
			t.Errorf("file %d of the visitor: %v; want %v", i, err, want)
		}
	}
	other := partition.Caller{Tenant: "acme", Session: "v2", Run: "r"}
	if _, err := a.Artifacts().Add(context.Background(), other, artifact.Upload{ID: "g", Content: file}); err != nil {
		t.Errorf("another visitor: %v", err)
	}
}

// A dry run removes no expired records.
func TestDryRunsReclaimNothing(t *testing.T) {
	large := `{"a":"` + strings.Repeat("x", 8000) + `"}`
	c := partition.Caller{Tenant: "acme", User: "ann", Run: "r"}
	var set time.Duration
	for _, test := range []struct {
		name  string
		dry   bool
		frees bool
	}{
		{"a run", false, true},
		{"a dry run", true, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			set = 0
			a := newApp(t, func(cfg *memory.Config) {
				cfg.Limits.UserBytes = 10_000
				cfg.Now = func() time.Time { return time.Now().Add(set) }
			})
			a.must(c, abi.SetContent, `"notes"`, large, `{"ttl":"1h"}`)
			set = 2 * time.Hour
			_, err := a.Transact(context.Background(), &memory.Tx{Caller: c, Authority: memory.Operator(), DryRun: test.dry}, func(ctx context.Context, v *memory.View) error {
				_, err := v.Call(ctx, call(abi.SetContent, `"daily"`, large))
				return err
			})
			if (err == nil) != test.frees {
				t.Errorf("a write that needs the space of an expired record = %v", err)
			}
			set = 0
			if got := a.must(c, abi.GetContent, `"notes"`); (got == "null") != test.frees {
				t.Errorf("when the clock is right again the record is %.20s", got)
			}
		})
	}
}
