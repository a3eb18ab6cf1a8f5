package bolt

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolrun/toolrun/host/storage"
)

// TestTenantsTakeTurns checks that many waiting requests of one tenant do not delay the first
// request of another tenant.
func TestTenantsTakeTurns(t *testing.T) {
	b := openTest(t)
	var order []string
	var do []func() error
	request := func(tenant string, n int) {
		do = append(do, func() error {
			return b.submit(context.Background(), sender{tenant: tenant}, func(*transaction) error {
				order = append(order, fmt.Sprint(tenant, n)) // never called concurrently
				return nil
			})
		})
	}
	for n := range 5 {
		request("a", n)
	}
	request("b", 0)
	request("b", 1)
	request("c", 0)
	gather(b, do...)
	if got := strings.Join(order, " "); got != "a0 b0 c0 a1 b1 a2 a3 a4" {
		t.Errorf("the order is %s", got)
	}
}

// TestLongWorkEndsACommit checks that a request with a long execution time is the last request of
// its commit. The next commit must contain the requests that follow the long request.
func TestLongWorkEndsACommit(t *testing.T) {
	b := openTest(t)
	var began []time.Time
	commits := countBegun(b)
	long := func() error {
		return b.submit(context.Background(), sender{tenant: "a"}, func(*transaction) error {
			began = append(began, time.Now())
			time.Sleep(maxBatchTime + time.Millisecond)
			return nil
		})
	}
	gather(b, long, long)
	if *commits != 3 || len(began) != 2 { // including the blocked request
		t.Errorf("two requests of %v each took %d transactions; want one each", maxBatchTime, *commits-1)
	}
}

// TestAddDuringCommit checks that new requests never precede the requests of the current commit.
func TestAddDuringCommit(t *testing.T) {
	q := newQueue()
	add := func(tenant string) *request {
		r := &request{from: sender{tenant: tenant}}
		if _, err := q.add(r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	first, second := add("a"), add("a")
	taken := q.next()
	third, other := add("a"), add("b")
	if !slices.Equal(taken, []*request{first, second}) {
		t.Fatal("the commit does not hold the first two requests")
	}
	if !q.done(1) || !slices.Equal(q.next(), []*request{other, second, third}) {
		t.Error("the other tenant's request is not next")
	}
	if q.done(3) || len(q.last) > 0 {
		t.Error("the empty queue still remembers tenants; want none")
	}
}

// TestLargeRequestsKeepApart checks that a commit contains only a few large requests. If small
// requests are waiting after a large commit, the next commit must contain only small requests.
func TestLargeRequestsKeepApart(t *testing.T) {
	q := newQueue()
	add := func(name string, bytes int64) *request {
		r := &request{from: sender{"a", storage.Key(name)}, bytes: bytes}
		if _, err := q.add(r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	commit := func(want ...*request) {
		t.Helper()
		if got := q.next(); !slices.Equal(got, want) {
			t.Errorf("the commit has %s; want %s", senders(got), senders(want))
		}
		q.done(q.taken)
	}
	// The queue cannot predict the size of a sender's first request.
	commit(add("x", 600<<10), add("y", 600<<10), add("z", 300<<10), add("s", 10))
	x, y, z, s := add("x", 600<<10), add("y", 600<<10), add("z", 10), add("s", 10)
	commit(s)           // the commit after a large commit contains only small requests
	commit(x, z)        // the request of y does not fit into the commit of x
	s = add("s", 10)    // after y
	more := add("z", 0) // the commit after y has no large requests
	commit(s, more)
	commit(y)
	huge, s := add("y", 8<<20), add("s", 300<<10)
	commit(s) // the request was predicted to be small, so the next commit takes large requests
	more, s = add("y", 8<<20), add("t", 10)
	commit(huge, s)
	commit(more) // the only large request of a commit may exceed the limit
	more = add("y", 8<<20)
	commit(more)
	more, s, z = add("y", 8<<20), add("t", 10), add("u", 10)
	commit(s, z)
	s = add("t", 10)
	commit(more, s) // small requests always fit
	if len(q.items) != 0 {
		t.Errorf("%d requests are left", len(q.items))
	}
}

func senders(list []*request) (names []storage.Key) {
	for _, r := range list {
		names = append(names, r.from.key)
	}
	return names
}

// TestLargeSendersAreBounded checks that the number of remembered senders is bounded.
func TestLargeSendersAreBounded(t *testing.T) {
	q := newQueue()
	for i := range 2*maxLarge + 1 {
		if _, err := q.add(&request{from: sender{"a", storage.Key(fmt.Sprint(i))}, bytes: 1 << 20}); err != nil {
			t.Fatal(err)
		}
		q.next()
		if q.done(1); len(q.large) > maxLarge {
			t.Fatalf("%d senders are remembered; want at most %d", len(q.large), maxLarge)
		}
	}
}
