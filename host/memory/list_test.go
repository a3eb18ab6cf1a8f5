package memory_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
)

// looks is a backend that counts the records that lists read.
type looks struct {
	storage.Backend
	n int
}

func (l *looks) Heads(ctx context.Context, prefix, after storage.Key, limit int) ([]storage.Head, error) {
	found, err := l.Backend.Heads(ctx, prefix, after, limit)
	l.n += len(found)
	return found, err
}

// The work for a page of a list is bounded, even if the page contains no record. All pages together
// contain all records of the store.
func TestListsAreBoundedWork(t *testing.T) {
	ctx := t.Context()
	l := &looks{}
	a := newApp(t, func(cfg *memory.Config) { l.Backend = cfg.Backend; cfg.Backend = l })
	const others, limit = 5000, 2000
	for i := range others {
		user := partition.Caller{Tenant: "acme", User: fmt.Sprintf("u%04d", i), Run: "r"}
		a.must(user, abi.SetContent, `"notes"`, `{}`, `{"ttl":"1m"}`)
	}
	a.clock.Advance(2 * time.Minute) // after this time, all records have expired
	a.must(partition.Caller{Tenant: "acme", User: "zoe-is-last", Run: "r"}, abi.SetContent, `"notes"`, `{}`)
	seen, pages := 0, 0
	for after := ""; ; pages++ {
		l.n = 0
		found, next, err := a.List(ctx, partition.Caller{Tenant: "acme"}, "notes", after, 100)
		if err != nil {
			t.Fatal(err)
		}
		if l.n > limit {
			t.Fatalf("a page read %d records; want at most %d", l.n, limit)
		}
		seen += len(found)
		if after = next; next == "" {
			break
		}
	}
	if seen != 1 || pages != others/limit {
		t.Errorf("there were %d pages before the last one, with %d records of the store in all; want 1 record and %d pages", pages, seen, others/limit)
	}
	l.n = 0
	if found, _, err := a.List(ctx, partition.Caller{Tenant: "acme", User: "zoe-is-last"}, "notes", "", 100); err != nil || len(found) != 1 || l.n > 2 {
		t.Errorf("the list of one user = %v, %v, after reading %d records; want one record after reading at most 2", found, err, l.n)
	}
	if _, _, err := a.List(ctx, partition.Caller{Tenant: "acme"}, "notes", "nonsense!", 1); !errors.Is(err, abi.InvalidArgument) {
		t.Errorf("an invalid cursor = %v; want invalid_argument", err)
	}
}

// The keys of session records contain no user. Nevertheless, the list of a user contains only the
// records that this user wrote.
func TestListOfUserInSessionStore(t *testing.T) {
	a := newApp(t)
	for user, session := range map[string]string{"ann": "s1", "bob": "s2", "": "s3"} {
		a.must(partition.Caller{Tenant: "acme", User: user, Session: session, Run: "r"}, abi.SetContent, `"cart"`, `{}`)
	}
	for _, tt := range []struct {
		caller partition.Caller
		want   string
	}{
		{partition.Caller{}, "[s1 s2 s3]"},
		{partition.Caller{User: "ann"}, "[s1]"},
		{partition.Caller{User: "ann", Session: "s1"}, "[s1]"},
		{partition.Caller{Session: "s3"}, "[s3]"},
		{partition.Caller{User: "ann", Workflow: "w"}, "[s1]"},
	} {
		tt.caller.Tenant = "acme"
		found, _, err := a.List(t.Context(), tt.caller, "cart", "", 100)
		sessions := []string{}
		for _, r := range found {
			sessions = append(sessions, r.Session)
		}
		if slices.Sort(sessions); err != nil || fmt.Sprint(sessions) != tt.want {
			t.Errorf("List for %+v = %v, %v; want %s", tt.caller, sessions, err, tt.want)
		}
	}
}

// A cursor is relative to the tenant of the caller.
func TestCursorsStayInTheirTenant(t *testing.T) {
	ctx := t.Context()
	a := newApp(t)
	for _, tenant := range []string{"acme", "other"} {
		for _, user := range []string{"ann", "bob"} {
			a.must(partition.Caller{Tenant: tenant, User: user, Run: "r"}, abi.SetContent, `"notes"`, `{}`)
		}
	}
	_, next, err := a.List(ctx, partition.Caller{Tenant: "acme"}, "notes", "", 1)
	if err != nil || next == "" {
		t.Fatalf("the first page has the cursor %q of the next page, %v; want a cursor", next, err)
	}
	found, _, err := a.List(ctx, partition.Caller{Tenant: "other"}, "notes", next, 10)
	if err != nil || len(found) != 1 || found[0].User != "bob" {
		t.Errorf("a cursor used by another tenant = %v, %v; want bob of that tenant", found, err)
	}
}
