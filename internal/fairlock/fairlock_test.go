package fairlock

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// leaseTime is the LeaseTime of the tests' locks.
const leaseTime = 2 * time.Second

func acquire(t *testing.T, l *Locks[string], keys ...string) *Lease[string] {
	h, err := l.Acquire(context.Background(), keys, nil)
	if err != nil {
		t.Error(err)
	}
	return h
}

// wantEmpty checks that no queues remain after all locks have been released.
func wantEmpty(t *testing.T, l *Locks[string]) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queues) > 0 || l.prefixes != 0 {
		t.Errorf("%d queues are left, %d of prefixes", len(l.queues), l.prefixes)
	}
}

func TestOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Locks[string]
		first := acquire(t, &l, "a")
		var order []int
		for i := range 5 {
			go func() {
				h := acquire(t, &l, "a")
				order = append(order, i)
				h.Release()
			}()
			synctest.Wait() // wait until the request is queued
		}
		first.Release()
		synctest.Wait()
		for i, got := range order {
			if got != i {
				t.Fatalf("the lock was granted in the order %v", order)
			}
		}
		wantEmpty(t, &l)
	})
}

func TestCancelledRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Locks[string]
		holder := acquire(t, &l, "b")
		ctx, cancel := context.WithCancel(context.Background())
		waiter := make(chan error, 1)
		go func() {
			_, err := l.Acquire(ctx, []string{"a", "b", "c"}, nil) // this goroutine acquires a and waits for b
			waiter <- err
		}()
		synctest.Wait()
		if !l.Busy([]string{"a"}) {
			t.Error("the request does not hold the free key")
		}
		cancel()
		if err := <-waiter; !errors.Is(err, context.Canceled) {
			t.Errorf("Acquire = %v; want the error of the context", err)
		}
		if l.Busy([]string{"a", "c"}) {
			t.Error("a cancelled request is still in a queue")
		}
		holder.Release()
		holder.Release() // a second call has no effect
		wantEmpty(t, &l)
	})
}

func TestLeaseTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := Locks[string]{LeaseTime: leaseTime}
		slow := acquire(t, &l, "a", "b")
		start := time.Now()
		next := acquire(t, &l, "b")
		if waited := time.Since(start); waited != leaseTime {
			t.Errorf("waited %v; want %v", waited, leaseTime)
		}
		slow.Release() // after the end of the lease, Release must not release the lock of the next holder
		if !l.Busy([]string{"b"}) {
			t.Error("the release of an expired lease released another one's lock")
		}
		next.Release()
		wantEmpty(t, &l)
	})
}

// Without a LeaseTime, a lock is held until its release.
func TestNoLeaseTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Locks[string]
		slow := acquire(t, &l, "a")
		start := time.Now()
		time.AfterFunc(time.Hour, slow.Release)
		acquire(t, &l, "a").Release()
		if waited := time.Since(start); waited != time.Hour {
			t.Errorf("waited %v; want 1h", waited)
		}
		wantEmpty(t, &l)
	})
}

func TestCrossingKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := Locks[string]{LeaseTime: leaseTime}
		sets := [][]string{{"a", "b", "a"}, {"b", "a"}, {"c", "b"}, {"a", "c"}}
		start := time.Now()
		done := make(chan struct{})
		for i := range 40 {
			go func() {
				var prefixes []string
				if i%3 == 0 {
					prefixes = []string{"b", "a"}
				}
				h, err := l.Acquire(context.Background(), sets[i%len(sets)], prefixes)
				if err != nil {
					t.Error(err)
				}
				h.Release()
				done <- struct{}{}
			}()
		}
		for range 40 {
			<-done
		}
		if time.Since(start) > 0 {
			t.Error("requests waited for each other until a lease ended")
		}
		wantEmpty(t, &l)
	})
}

// TestPrefixLock checks that the lock of a prefix blocks only requests for keys with that prefix.
func TestPrefixLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := Locks[string]{LeaseTime: leaseTime}
		scan, err := l.Acquire(context.Background(), nil, []string{"p"})
		if err != nil {
			t.Fatal(err)
		}
		if !l.Busy([]string{"x", "p1"}) || l.Busy([]string{"q"}) {
			t.Error("Busy does not report the keys under the prefix")
		}
		start := time.Now()
		acquire(t, &l, "q").Release()
		if time.Since(start) > 0 {
			t.Error("a request for another key waited")
		}
		acquire(t, &l, "p1").Release()
		if waited := time.Since(start); waited != leaseTime {
			t.Errorf("a request for a key under the prefix waited %v; want %v", waited, leaseTime)
		}
		scan.Release()
		wantEmpty(t, &l)
	})
}
