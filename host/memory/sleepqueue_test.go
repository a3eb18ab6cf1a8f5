package memory_test

import (
	"context"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
)

// usageOf returns the number of bytes that count toward the quota of a user.
func (a *app) usageOf(user string) int64 {
	a.t.Helper()
	account := storage.UserAccount(partition.App("shop").Group(partition.Caller{Tenant: "acme"}), user)
	usage, err := a.backend.Usage(a.t.Context(), account)
	if err != nil {
		a.t.Fatal(err)
	}
	return usage[0].Bytes
}

// TestQueueOfFullUser leases, releases and finishes the run of a user whose quota has no free byte.
func TestQueueOfFullUser(t *testing.T) {
	free := withTranscripts(t)
	free.sayIn(1, "ann")
	a := withTranscripts(t, func(cfg *memory.Config) { cfg.Limits.UserBytes = free.usageOf("ann") })
	a.sayIn(1, "ann")
	a.clock.Advance(settleAfter)
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

// getsOf is a backend that counts the reads of records and returns a damaged record.
type getsOf struct {
	storage.Backend
	calls   int
	damaged string // this session has a damaged record in the queue
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

// TestQueueListReads checks that a list reads all its records in one read and omits a damaged
// record.
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

// TestQueueLeaseBeforeTime checks that Lease leases neither a record that is not due, nor a record
// whose lease has not ended.
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
