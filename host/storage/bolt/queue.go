package bolt

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/toolrun/toolrun/host/storage"
)

// A request contains a function that must be executed in a write transaction. The caller waits for
// the result of the request.
type request struct {
	// The function "do" is called by the goroutine that commits. If the transaction fails because
	// of another request, the function "do" is called again. The caller of submit gets the error
	// that the function "do" returns. If the function "do" returns an error, its previous writes
	// are undone.
	do func(t *transaction) error
	// The field "from" is the sender of the request. Tenants take turns in rounds. round is the
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
	// key is the main key of a request. The queue predicts that a request for a key has the same
	// size as the previous request for the same key.
	key storage.Key
}

// The states of a request. The state of a request is first "waiting", and then changes to "begun"
// or to "abandoned". Only a request that has begun is executed.
const (
	waiting int32 = iota
	begun
	abandoned
)

// begin reports whether the request must be executed. The result is false only if the caller has
// abandoned the request.
func (r *request) begin() bool {
	return r.state.CompareAndSwap(waiting, begun) || r.state.Load() == begun
}

// abandon withdraws the request, or returns false if the request has already begun.
func (r *request) abandon() bool { return r.state.CompareAndSwap(waiting, abandoned) }

// The duration of a commit depends on the number of written bytes. All requests of a commit wait
// until the commit ends. The following limits therefore bound the number of bytes that a commit
// writes.
const (
	// largeBytes is the minimum size, in bytes, of a large request and of a large commit.
	largeBytes = 128 << 10
	// maxLargeBytes is the maximum total size of the large requests of a commit. If a commit has
	// only one large request, the request may exceed maxLargeBytes.
	maxLargeBytes = 1 << 20
	// maxLarge is the maximum number of senders of large requests that the queue remembers.
	maxLarge = 1024
)

// queue is a queue of requests that wait for a commit. One goroutine commits at a time.
//
// Tenants take turns. The first waiting request of each tenant is executed before the second
// request of any tenant. A tenant's small requests are executed in the order of arrival. Large
// requests can be delayed. A commit contains few large requests. If small requests are waiting
// after a large commit, the next commit contains only small requests.
type queue struct {
	mu     sync.Mutex
	items  []*request // the current commit, then waiting requests, sorted by round
	taken  int        // the number of requests in the current commit
	round  int        // the round of the last executed request
	last   map[string]int
	busy   bool // true while a commit is in progress
	closed bool
	idle   sync.Cond // a condition that is signaled when the last commit has ended
	// large maps each sender whose last request was large to the size of this request.
	large map[sender]int64
	// pause is true for the commit that follows a large commit. If pause is true and small requests
	// are waiting, the commit takes no large requests.
	pause bool
}

func newQueue() *queue {
	q := &queue{last: make(map[string]int), large: make(map[sender]int64)}
	q.idle.L = &q.mu
	return q
}

// add adds a request to the queue. The result "lead" is true if no commit is in progress. If "lead"
// is true, the caller must commit until the method "done" returns false.
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

// pick moves the requests of the next commit to the front, in order, and returns the number of
// these requests.
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

// learn records whether the requests of a commit were large. The queue predicts that the next
// request of a sender has the same size as the sender's last request.
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
	q.pause = !q.pause && total >= largeBytes // large requests wait for at most one commit in a row
}

// done removes the first n requests and reports whether more requests are waiting. If no more
// requests are waiting, the caller stops committing.
func (q *queue) done(n int) (more bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.round = max(q.round, q.items[n-1].round)
	q.learn(q.items[:n])
	left := n < q.taken
	q.items, q.taken = slices.Delete(q.items, 0, n), 0
	if left { // a newer request can belong to an earlier round than the requests of the commit
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

// close rejects all waiting and future requests, and returns when the current commit has ended.
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
