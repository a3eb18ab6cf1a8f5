package bolt

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/toolrun/toolrun/host/storage"
)

// request is a function to execute in a write transaction, with a caller that waits for the result.
type request struct {
	// The function "do" is called by the goroutine that commits. The function "do" is called again
	// if the transaction failed because of another request. The caller of the request gets the
	// error that the function returns. If the function returns an error after some of its writes,
	// the writes are undone.
	do func(t *transaction) error
	// The field "from" is the sender of the request. Tenants take turns in rounds, and round is the
	// number of the round in which the request is executed.
	from  sender
	round int
	bytes int64 // the approximate size of the contents that the function "do" wrote and removed, in bytes
	state atomic.Int32
	done  chan struct{} // closed when err will no longer change
	err   error
}

// sender identifies the origin of requests.
type sender struct {
	tenant string // tenants take turns
	// key is the main key of a request. The queue expects a request for a key to have the same size
	// as the previous request for the key.
	key storage.Key
}

// The states of a request. The state of a request changes from waiting either to begun or to
// abandoned. Only a request that has begun is executed.
const (
	waiting int32 = iota
	begun
	abandoned
)

// The method "begin" reports whether the request must be executed. The result is false only if the
// caller has abandoned the request.
func (r *request) begin() bool {
	return r.state.CompareAndSwap(waiting, begun) || r.state.Load() == begun
}

// The method "abandon" withdraws the request, or returns false if the request has already begun.
func (r *request) abandon() bool { return r.state.CompareAndSwap(waiting, abandoned) }

// The duration of a commit depends on the number of bytes that it writes, and all requests of a
// commit wait for the end of the commit. The limits below therefore bound the number of bytes of a
// commit.
const (
	// largeBytes is the minimum size of a large request or a large commit.
	largeBytes = 128 << 10
	// maxLargeBytes is the maximum total size of the large requests of a commit. A single large
	// request may exceed maxLargeBytes.
	maxLargeBytes = 1 << 20
	// maxLarge is the maximum number of senders of large requests that the queue remembers.
	maxLarge = 1024
)

// queue is the queue of requests that wait for a commit. One goroutine commits at a time.
//
// Tenants take turns. The first waiting request of each tenant is executed before the second
// request of any tenant. The requests of one tenant are executed in the order of arrival, except
// large requests. A commit contains few large requests. If small requests are waiting, the commit
// after a large commit contains only small requests.
type queue struct {
	mu     sync.Mutex
	items  []*request // the requests of the current commit, followed by all other requests in the order of rounds
	taken  int        // the number of requests in the current commit
	round  int        // the round of the last executed request
	last   map[string]int
	busy   bool // true while a commit is in progress
	closed bool
	idle   sync.Cond // a condition that is signaled when the last commit has ended
	// The field "large" contains the size of the last request of each sender whose last request was
	// large.
	large map[sender]int64
	// pause is set for the commit after a large commit. If small requests are waiting, a commit
	// with pause set takes no large requests.
	pause bool
}

func newQueue() *queue {
	q := &queue{last: make(map[string]int), large: make(map[sender]int64)}
	q.idle.L = &q.mu
	return q
}

// The method "add" adds a request to the queue. The result "lead" is true if no commit is in
// progress, so that the caller must commit until the method "done" returns false.
func (q *queue) add(r *request) (lead bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false, storage.ErrClosed
	}
	r.round = max(q.round, q.last[r.from.tenant]) + 1
	q.last[r.from.tenant] = r.round
	at := len(q.items)
	for at > q.taken && q.items[at-1].round > r.round {
		at--
	}
	q.items = slices.Insert(q.items, at, r)
	lead, q.busy = !q.busy, true
	return lead, nil
}

// The method "next" returns the requests for the next commit. The returned requests remain in the
// queue.
func (q *queue) next() []*request {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.large) == 0 {
		q.taken = min(len(q.items), maxBatch)
	} else {
		q.taken = q.pick()
	}
	return q.items[:q.taken:q.taken]
}

// The method "pick" moves the requests of the next commit to the front, in order, and returns the
// number of these requests.
func (q *queue) pick() int {
	room := int64(maxLargeBytes)
	if q.pause && slices.ContainsFunc(q.items, func(r *request) bool { return q.large[r.from] == 0 }) {
		room = 0
	}
	picked, left := make([]*request, 0, len(q.items)), []*request(nil)
	for _, r := range q.items {
		size := q.large[r.from]
		if len(picked) == maxBatch || size > room && room < maxLargeBytes {
			left = append(left, r)
			continue
		}
		picked, room = append(picked, r), max(0, room-size)
	}
	q.items = append(q.items[:0], append(picked, left...)...)
	return len(picked)
}

// The method "learn" records whether the requests of a commit were large. The queue expects the
// next request of each sender to have the same size.
func (q *queue) learn(done []*request) {
	total := int64(0)
	for _, r := range done {
		total += r.bytes
		switch {
		case r.bytes < largeBytes:
			delete(q.large, r.from)
		case len(q.large) == maxLarge:
			clear(q.large)
		default:
			q.large[r.from] = r.bytes
		}
	}
	q.pause = !q.pause && total >= largeBytes // at most every second commit pauses large requests
}

// The method "done" removes the first n requests and reports whether more requests are waiting. If
// no more requests are waiting, the caller stops committing.
func (q *queue) done(n int) (more bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.round = max(q.round, q.items[n-1].round)
	q.learn(q.items[:n])
	left := n < q.taken
	q.items, q.taken = slices.Delete(q.items, 0, n), 0
	if left { // newer requests with an earlier round may precede the requests of the commit
		slices.SortStableFunc(q.items, func(a, b *request) int { return cmp.Compare(a.round, b.round) })
	}
	q.busy = len(q.items) > 0
	if !q.busy {
		q.round = 0
		clear(q.last)
		q.idle.Broadcast()
	}
	return q.busy
}

// The method "close" rejects all waiting and future requests, and returns when the current commit
// has ended.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	for _, r := range q.items {
		if r.abandon() {
			r.err = storage.ErrClosed
			close(r.done)
		}
	}
	for q.busy {
		q.idle.Wait()
	}
}
