package memory

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolrun/toolrun/host/storage"
)

func TestTurnsAreFirstComeFirstServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ts turns
		first, err := ts.take(context.Background(), []storage.Key{"a"})
		if err != nil {
			t.Fatal(err)
		}
		var order []int
		for i := range 5 {
			go func() {
				h, err := ts.take(context.Background(), []storage.Key{"a"})
				if err != nil {
					t.Error(err)
				}
				order = append(order, i)
				h.release()
			}()
			synctest.Wait() // it stands in the queue
		}
		first.release()
		synctest.Wait()
		for i, got := range order {
			if got != i {
				t.Fatalf("served in the order %v", order)
			}
		}
		ts.wantEmpty(t)
	})
}

// wantEmpty checks that nothing is left of turns that were given up.
func (t *turns) wantEmpty(tb testing.TB) {
	tb.Helper()
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.queues) > 0 {
		tb.Errorf("%d queues are left", len(t.queues))
	}
}

func TestACancelledWaiterLeavesTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ts turns
		holder, err := ts.take(context.Background(), []storage.Key{"b"})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		waiter := make(chan error, 1)
		go func() {
			_, err := ts.take(ctx, []storage.Key{"a", "b", "c"}) // gets a, waits for b
			waiter <- err
		}()
		synctest.Wait()
		if !ts.busy([]storage.Key{"a"}) {
			t.Error("the waiter does not hold the key that was free")
		}
		cancel()
		if err := <-waiter; !errors.Is(err, context.Canceled) {
			t.Errorf("take = %v; want the context's error", err)
		}
		if ts.busy([]storage.Key{"a", "c"}) {
			t.Error("a waiter that was cancelled still stands in a queue")
		}
		holder.release()
		holder.release() // twice is fine
		ts.wantEmpty(t)
	})
}

func TestALeaseEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ts turns
		slow, err := ts.take(context.Background(), []storage.Key{"a", "b"})
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		next, err := ts.take(context.Background(), []storage.Key{"b"})
		if err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(start); waited != turnLease {
			t.Errorf("waited %v; want a lease's %v", waited, turnLease)
		}
		slow.release() // late, it must not take the next one's turn away
		if !ts.busy([]storage.Key{"b"}) {
			t.Error("the release of an old turn ended another one's")
		}
		next.release()
		ts.wantEmpty(t)
	})
}

func TestCrossingKeySets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ts turns
		sets := [][]storage.Key{{"a", "b", "a"}, {"b", "a"}, {"c", "b"}, {"a", "c"}}
		start := time.Now()
		done := make(chan struct{})
		for i := range 40 {
			go func() {
				h, err := ts.take(context.Background(), sets[i%len(sets)])
				if err != nil {
					t.Error(err)
				}
				h.release()
				done <- struct{}{}
			}()
		}
		for range 40 {
			<-done
		}
		if time.Since(start) > 0 {
			t.Error("runs waited for each other until a lease ended")
		}
		ts.wantEmpty(t)
	})
}
