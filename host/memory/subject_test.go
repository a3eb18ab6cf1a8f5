package memory_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/artifact"
	"github.com/toolrun/toolrun/host/ledger"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/session"
	"github.com/toolrun/toolrun/host/storage"
)

// useEverything stores data of each kind for a caller: records of all scopes, a file, a stored
// Result, and ledger entries.
func useEverything(a *app, c partition.Caller) {
	a.t.Helper()
	ctx := a.t.Context()
	c.Run = fmt.Sprintf("run_%026d", len(everything(a)))
	entry := &ledger.Entry{Run: c.Run, User: c.User, Session: c.Session, At: a.clock.Now()}
	_, err := a.Transact(ctx, &memory.Tx{
		Caller: c, Authority: memory.Operator(), Key: "key-" + c.Run, Fingerprint: "f", LedgerEntry: entry,
		Answer: func(report.Effects) ([]byte, error) { return []byte(`{}`), nil },
	}, func(ctx context.Context, v *memory.View) error {
		stores := []string{"cart", "flags"}
		if c.User != "" {
			stores = append(stores, "notes", "lastSession")
		}
		for _, name := range stores {
			if _, err := v.Call(ctx, abi.Call{Op: abi.SetContent, Args: args(fmt.Sprintf("%q", name), `{"a":1}`)}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		a.t.Fatal(err)
	}
	text := "text"
	if _, err := a.Artifacts().Add(ctx, c, artifact.Upload{ID: "f" + c.Run[len(c.Run)-4:], Content: []byte("content"), Text: &text}); err != nil {
		a.t.Fatal(err)
	}
	recorded := ledger.Entry{Run: strings.Replace(c.Run, "run_", "run_1", 1), User: c.User, Session: c.Session, At: a.clock.Now()}
	if err := a.Ledger().Add(ctx, "acme", []ledger.Entry{recorded}); err != nil {
		a.t.Fatal(err)
	}
}

func everything(a *app) []storage.Record {
	a.t.Helper()
	all, err := a.backend.Scan(context.Background(), "", "", 1000)
	if err != nil {
		a.t.Fatal(err)
	}
	return all
}

// shared reports whether a record belongs to the app.
func shared(k storage.Key) bool {
	return k.Part(storage.Store) == "flags" || slices.Contains([]string{"catalogue", "erased"}, k.Part(storage.System))
}

// TestEverythingOfAUserIsTagged stores data of each kind for a user and then checks all records.
// Each record that does not belong to the app must have the tag of the user. An erasure must remove
// all records with this tag. An erasure must also remove all other data of the user.
func TestEverythingOfAUserIsTagged(t *testing.T) {
	ctx := t.Context()
	a := newApp(t, func(cfg *memory.Config) { cfg.LedgerRetention = 90 * 24 * time.Hour })
	useEverything(a, caller("ann", "open"))
	useEverything(a, caller("ann", "over"))
	if _, err := a.Sessions().End(ctx, caller("ann", "over")); err != nil {
		t.Fatal(err)
	}
	mine := storage.SubjectTag("ann")
	kinds := map[string]int{}
	for _, r := range everything(a) {
		if got := slices.Contains(r.Tags, mine); got == shared(r.Key) {
			t.Errorf("%s has the tags %q; want the user's: %v", r.Key, r.Tags, !shared(r.Key))
		}
		kinds[r.Key.Part(storage.System)]++
	}
	for _, kind := range []string{"", "session", "finished", "ledger", "file", "file-text"} {
		if kinds[kind] == 0 {
			t.Errorf("no record of the kind %q was checked; the checked kinds are %v", kind, kinds)
		}
	}
	erased, err := a.Erase(ctx, partition.Caller{Tenant: "acme", User: "ann"})
	if err != nil || erased.Records != 2 || erased.Runs != 1 || erased.Files != 2 || erased.Entries != 4 || erased.Sessions != 1 {
		t.Errorf("Erase = %+v, %v", erased, err)
	}
	for _, r := range everything(a) {
		tombstone := r.Key.Part(storage.System) == "session" && !strings.Contains(string(r.Content), "ann") && !slices.Contains(r.Tags, mine)
		if !shared(r.Key) && !tombstone {
			t.Errorf("after the erasure there is still %s with the tags %q", r.Key, r.Tags)
		}
	}
}

// TestErasureFindsTheAnonymousPast executes anonymous runs in a session, binds the session to a
// user, ends the session, and then erases the user. Only the ended session connects the user with
// the anonymous runs. The erasure must not remove data of other sessions or other tenants.
func TestErasureFindsTheAnonymousPast(t *testing.T) {
	ctx := t.Context()
	a := newApp(t, func(cfg *memory.Config) { cfg.LedgerRetention = 90 * 24 * time.Hour })
	useEverything(a, caller("", "s1"))
	useEverything(a, caller("", "s10"))
	useEverything(a, caller("bob", "s2"))
	foreign := partition.Caller{Tenant: "other", User: "ann", Session: "s1", Run: "r"}
	a.must(foreign, abi.SetContent, `"notes"`, `{}`)
	if _, err := a.Sessions().Start(ctx, caller("ann", "s1"), session.Start{}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Sessions().End(ctx, caller("ann", "s1")); err != nil {
		t.Fatal(err)
	}
	before := everything(a)
	a.clock.Advance(29 * 24 * time.Hour)
	if _, err := a.Erase(ctx, partition.Caller{Tenant: "acme", User: "ann"}); err != nil {
		t.Fatal(err)
	}
	left := map[storage.Key]bool{}
	for _, r := range everything(a) {
		left[r.Key] = true
	}
	gone := 0
	for _, r := range before {
		past := slices.Contains(r.Tags, storage.SubjectTag("\x00s1"))
		if left[r.Key] == past {
			t.Errorf("%s with the tags %q is left: %v", r.Key, r.Tags, left[r.Key])
		}
		if past {
			gone++
		}
	}
	if gone != 5 { // two ledger entries and three records of a file; the end of the session has removed the other records
		t.Errorf("%d records of the anonymous past are gone; want 5", gone)
	}
}
