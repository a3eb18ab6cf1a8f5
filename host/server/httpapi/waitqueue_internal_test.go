package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// queue starts requests for bytes and returns when they are waiting. Each request sends its outcome
// to the channel "ended".
func queue(ctx context.Context, r *byteSemaphore, n int, bytes int64, ended chan<- error, path ...string) {
	for range n {
		go func() {
			h, err := r.acquire(ctx, bytes, path...)
			if err == nil {
				h.free()
			}
			ended <- err
		}()
	}
	synctest.Wait()
}

// statusesOf counts outcomes by status. The status 0 means success.
func statusesOf(ended <-chan error) map[int]int {
	found := map[int]int{}
	for range len(ended) {
		if p, ok := (<-ended).(*problem); ok {
			found[p.Status]++
		} else {
			found[0]++
		}
	}
	return found
}

// TestQueueOfOneLink starts more readers of one link than the queue allows. The readers of this
// link must not block other readers. If bytes are free, other readers of the tenant and of other
// tenants must get these bytes. If no bytes are free, the other readers must wait.
func TestQueueOfOneLink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newByteSemaphore(1<<20, "files")
		held := mustAcquire(t, r, 1<<18, 0, "a", "link f")
		ended := make(chan error, 5000)
		queue(t.Context(), r, 4300, 1<<18, ended, "a", "link f")
		if got := statusesOf(ended); got[http.StatusTooManyRequests] != 4300-128 {
			t.Errorf("of 4,300 readers of a link %v have ended; want all but 128 rejected with 429", got)
		}
		mustAcquire(t, r, 1<<10, 0, "a", "link g").free()
		mustAcquire(t, r, 1<<10, 0, cleo...).free()
		other := make(chan error, 10)
		queue(t.Context(), r, 5, 1<<19, other, "a", "link g")
		queue(t.Context(), r, 5, 1<<19, other, cleo...)
		if got := statusesOf(other); len(got) != 0 {
			t.Errorf("others ended with %v; want them to wait", got)
		}
		held.free()
		synctest.Wait()
		if got := statusesOf(other); got[0] != 10 {
			t.Errorf("with free bytes others ended with %v; want success", got)
		}
		time.Sleep(time.Minute)
		if r.queue.count != 0 || len(r.queue.tenants) != 0 || r.used != 0 || len(r.shares) != 0 {
			t.Errorf("%d wait of %d tenants, %d bytes and %d shares are held; want none", r.queue.count, len(r.queue.tenants), r.used, len(r.shares))
		}
	})
}

// TestQueueIsFair fills a queue. A tenant can use a quarter of the queue, and each caller of the
// tenant can use an eighth of this quarter. If the queue is full, a request from a tenant or caller
// with fewer requests evicts the last request of the longest queue.
func TestQueueIsFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		r := newByteSemaphore(1<<20, "bodies")
		r.queue = newWaitQueue(64) // 16 requests for a tenant, 2 for a caller
		mustAcquire(t, r, 1<<19, 0, "z", "z")
		ended := make(chan error, 1000)
		fill := func(tenant string, callers int) {
			for i := range callers {
				queue(ctx, r, 3, 1<<20, ended, tenant, fmt.Sprint(i))
			}
		}
		check := func(what string, waiting int, want map[int]int) {
			t.Helper()
			if got := statusesOf(ended); r.queue.count != waiting || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s: %d wait and %v have ended; want %d and %v", what, r.queue.count, got, waiting, want)
			}
		}
		fill("a", 8)
		check("8 callers of a tenant with 3 each", 16, map[int]int{429: 8})
		queue(ctx, r, 1, 1<<20, ended, "a", "new")
		check("a new caller evicts the second request of another one", 16, map[int]int{429: 1})
		queue(ctx, r, 1, 1<<20, ended, "a", "new")
		check("its second request evicts none", 16, map[int]int{429: 1})
		for _, tenant := range []string{"b", "c", "d"} {
			fill(tenant, 8)
		}
		check("4 tenants fill the queue", 64, map[int]int{429: 24})
		for range 12 {
			queue(ctx, r, 1, 1<<20, ended, "e", fmt.Sprint(len(r.shares)))
		}
		check("a new tenant evicts requests of others", 64, map[int]int{429: 12})
		for tenant, l := range r.queue.tenants {
			if l.count < 12 || l.count > 13 {
				t.Errorf("%s has %d places; want 12 or 13", tenant.name, l.count)
			}
		}
	})
}

// BenchmarkQueue acquires and frees bytes while the queue is full of requests that do not fit.
func BenchmarkQueue(b *testing.B) {
	r := newByteSemaphore(1<<20, "bodies")
	if _, err := r.acquire(b.Context(), 1<<18, "z", "z"); err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	for i := range maxWaiting {
		go func() { _, _ = r.acquire(ctx, 1<<20, fmt.Sprint(i%4), fmt.Sprint(i/4%8)) }()
	}
	for waiting := 0; waiting < maxWaiting; {
		r.mu.Lock()
		waiting = r.queue.count
		r.mu.Unlock()
	}
	for b.Loop() {
		h, err := r.acquire(ctx, 1, "y", "y")
		if err != nil {
			b.Fatal(err)
		}
		h.free()
	}
}
