package txn

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolrun/toolrun/host/storage"
)

// take is fairLocks.take for keys.
func (l *fairLocks) takeKeys(t *testing.T, keys ...storage.Key) *lease {
	h, err := l.take(context.Background(), keys, nil)
	if err != nil {
		t.Error(err)
	}
	return h
}

// wantEmpty checks that nothing is left of locks that were given up.
func (l *fairLocks) wantEmpty(tb testing.TB) {
	tb.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queues) > 0 || l.ranges != 0 {
		tb.Errorf("%d queues are left, %d of ranges", len(l.queues), l.ranges)
	}
}

func TestLocksAreFirstComeFirstServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l fairLocks
		first := l.takeKeys(t, "a")
		var order []int
		for i := range 5 {
			go func() {
				h := l.takeKeys(t, "a")
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
		l.wantEmpty(t)
	})
}

func TestCancelledWaiterLeavesTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l fairLocks
		holder := l.takeKeys(t, "b")
		ctx, cancel := context.WithCancel(context.Background())
		waiter := make(chan error, 1)
		go func() {
			_, err := l.take(ctx, []storage.Key{"a", "b", "c"}, nil) // gets a, waits for b
			waiter <- err
		}()
		synctest.Wait()
		if !l.busy([]storage.Key{"a"}) {
			t.Error("the waiter does not hold the key that was free")
		}
		cancel()
		if err := <-waiter; !errors.Is(err, context.Canceled) {
			t.Errorf("take = %v; want the context's error", err)
		}
		if l.busy([]storage.Key{"a", "c"}) {
			t.Error("a waiter that was cancelled still stands in a queue")
		}
		holder.release()
		holder.release() // twice is fine
		l.wantEmpty(t)
	})
}

func TestLeaseEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l fairLocks
		slow := l.takeKeys(t, "a", "b")
		start := time.Now()
		next := l.takeKeys(t, "b")
		if waited := time.Since(start); waited != leaseTime {
			t.Errorf("waited %v; want %v", waited, leaseTime)
		}
		slow.release() // late: it must not take the next one's lock away
		if !l.busy([]storage.Key{"b"}) {
			t.Error("the release of an old lease ended another one's")
		}
		next.release()
		l.wantEmpty(t)
	})
}

func TestCrossingKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l fairLocks
		sets := [][]storage.Key{{"a", "b", "a"}, {"b", "a"}, {"c", "b"}, {"a", "c"}}
		start := time.Now()
		done := make(chan struct{})
		for i := range 40 {
			go func() {
				var prefixes []storage.Key
				if i%3 == 0 {
					prefixes = []storage.Key{"b", "a"}
				}
				h, err := l.take(context.Background(), sets[i%len(sets)], prefixes)
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
			t.Error("transactions waited for each other until a lease ended")
		}
		l.wantEmpty(t)
	})
}

// A lock of a prefix holds up those who write beneath it, and only those.
func TestPrefixLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l fairLocks
		scan, err := l.take(context.Background(), nil, []storage.Key{"p"})
		if err != nil {
			t.Fatal(err)
		}
		if !l.busy([]storage.Key{"x", "p1"}) || l.busy([]storage.Key{"q"}) {
			t.Error("busy does not report the keys under the prefix")
		}
		start := time.Now()
		l.takeKeys(t, "q").release()
		if time.Since(start) > 0 {
			t.Error("a key elsewhere waited")
		}
		l.takeKeys(t, "p1").release()
		if waited := time.Since(start); waited != leaseTime {
			t.Errorf("a key under the prefix waited %v; want %v", waited, leaseTime)
		}
		scan.release()
		l.wantEmpty(t)
	})
}
