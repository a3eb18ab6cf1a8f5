package memory_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/memory/transcript"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
)

// fill adds messages of a user until the quota is exhausted.
func (a *app) fill(c partition.Caller) {
	a.t.Helper()
	for size := 10_000; size > 0; size /= 2 {
		for n := 0; ; n++ {
			c.Session = fmt.Sprint("fill", size, "-", n)
			_, err := a.transactWithoutRights(c, func(ctx context.Context, v *memory.View) error {
				m := transcript.Message{Role: transcript.RoleUser, Content: strings.Repeat("x", size)}
				_, err := memory.RecordMessages(ctx, v, "support", []transcript.Message{m}, settleAfter)
				return err
			})
			if errors.Is(err, abi.QuotaExceeded) {
				break
			}
			if err != nil {
				a.t.Fatal(err)
			}
		}
	}
}

// TestQueueOfFullUser leases, releases and finishes runs of users whose quota is exhausted.
func TestQueueOfFullUser(t *testing.T) {
	a := withTranscripts(t, func(cfg *memory.Config) { cfg.Limits.AppBytes, cfg.Limits.UserBytes = 1<<20, 50_000 })
	a.fill(partition.Caller{Tenant: "acme", User: "ann", Run: "r"})
	a.clock.Advance(settleAfter + 999*time.Nanosecond)
	queue := memory.NewSleepQueue(a.Service)
	d := a.due()[0]
	lease, err := queue.Lease(t.Context(), d, settleAfter, time.Minute)
	if err != nil || lease == nil {
		t.Fatalf("Lease = %+v, %v", lease, err)
	}
	if err := queue.Release(t.Context(), lease, 0, abi.Unavailable); err != nil {
		t.Fatal(err)
	}
	if err := queue.End(t.Context(), "acme", "ann", d.Session); err != nil {
		t.Fatal(err)
	}
	for _, d := range a.due() {
		lease, err := queue.Lease(t.Context(), d, settleAfter, time.Minute)
		if err != nil || lease == nil {
			t.Fatalf("Lease = %+v, %v", lease, err)
		}
		if !a.finish(lease) {
			t.Error("the lease is not valid")
		}
	}
	if due := a.due(); len(due) != 0 {
		t.Errorf("%d runs are left; want 0", len(due))
	}
}

// getsOf counts the reads of records, and reports a damaged record.
type getsOf struct {
	storage.Backend
	calls   int
	damaged string // the session of the damaged record of the queue
}

func (b *getsOf) Get(ctx context.Context, keys ...storage.Key) ([]storage.Record, error) {
	b.calls++
	for _, key := range keys {
		if _, session, ok := partition.DueOf(key); ok && session == b.damaged {
			return nil, storage.ErrCorrupt
		}
	}
	return b.Backend.Get(ctx, keys...)
}

// TestQueueListReads reads the records of a list together, and omits a damaged one.
func TestQueueListReads(t *testing.T) {
	var gets *getsOf
	a := withTranscripts(t, func(cfg *memory.Config) {
		gets = &getsOf{Backend: cfg.Backend}
		cfg.Backend = gets
	})
	a.sayIn(100, "ann")
	a.clock.Advance(settleAfter)
	gets.calls = 0
	if due := a.due(); len(due) != 100 || gets.calls != 1 {
		t.Errorf("%d records in %d reads; want 100 in one", len(due), gets.calls)
	}
	gets.damaged = "ann-7"
	if due := a.due(); len(due) != 99 {
		t.Errorf("%d records; want 99 without the damaged one", len(due))
	}
	due, err := memory.NewSleepQueue(a.Service).List(t.Context(), "acme", a.clock.Now(), 1)
	if err != nil || len(due) != 1 {
		t.Errorf("List = %+v, %v", due, err)
	}
}

// TestQueueLeaseBeforeTime refuses the lease of a record that is not due, and of a leased record whose
// lease has not ended.
func TestQueueLeaseBeforeTime(t *testing.T) {
	a := withTranscripts(t)
	queue := memory.NewSleepQueue(a.Service)
	a.say(ann, "one")
	if err := queue.End(t.Context(), "acme", "ann", ann.Session); err != nil {
		t.Fatal(err)
	}
	lease := a.lease()
	if again, err := queue.Lease(t.Context(), lease.Due, settleAfter, time.Minute); err != nil || again != nil {
		t.Errorf("Lease of a leased record = %+v, %v; want none", again, err)
	}
	if !a.finish(lease) {
		t.Error("the first lease is not valid")
	}
}
