package bolt

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// Tenants take turns: one that waits with many requests does not keep the first one of another waiting behind all.
func TestTenantsTakeTurns(t *testing.T) {
	b := openTest(t)
	var order []string
	var do []func() error
	request := func(tenant string, n int) {
		do = append(do, func() error {
			return b.submit(context.Background(), tenant, func(*transaction) error {
				order = append(order, fmt.Sprint(tenant, n)) // requests run one at a time
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

// A request that works for long ends its commit: those after it share the next one.
func TestLongWorkEndsACommit(t *testing.T) {
	b := openTest(t)
	var began []time.Time
	commits := countBegun(b)
	long := func() error {
		return b.submit(context.Background(), "a", func(*transaction) error {
			began = append(began, time.Now())
			time.Sleep(maxBatchTime + time.Millisecond)
			return nil
		})
	}
	gather(b, long, long)
	if *commits != 3 || len(began) != 2 { // with the one that held them up
		t.Errorf("two requests of %v each took %d transactions; want one each", maxBatchTime, *commits-1)
	}
}

// What is added while a commit is under way never comes before its requests.
func TestQueueKeepsWhatIsTaken(t *testing.T) {
	q := newQueue()
	add := func(tenant string) *request {
		r := &request{tenant: tenant}
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
		t.Error("after the first, the other tenant's request is not next")
	}
	if q.done(3) || len(q.last) > 0 {
		t.Error("the queue is not as at first once it is empty")
	}
}
