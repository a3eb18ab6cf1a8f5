package bolt

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/toolrun/toolrun/host/storage"
)

// request is a function to be executed in a write transaction, for whose result a caller waits.
type request struct {
	// do is called by the committing goroutine, and again if its transaction failed because of
	// another request. Its error is for the caller and does not undo anything, unless do stopped in
	// the middle of writing.
	do func(t *transaction) error
	// from is the sender whose turn the request takes, and round the round of turns in which it
	// does.
	from  sender
	round int
	bytes int64 // of contents that do wrote and removed, approximately
	state atomic.Int32
	done  chan struct{} // closed when err is final
	err   error
}

// sender identifies the origin of requests.
type sender struct {
	tenant string // whose turn they take
	// key is the main key of a request. The size of the last request for it predicts that of the
	// next one.
	key storage.Key
}

// The states of a request. The transition from waiting decides whether it is executed.
const (
	waiting int32 = iota
	begun
	abandoned
)

// begin reports whether to execute the request: its caller still waits, or can no longer abandon
// it.
func (r *request) begin() bool {
	return r.state.CompareAndSwap(waiting, begun) || r.state.Load() == begun
}

// abandon withdraws the request, and reports false if it has begun.
func (r *request) abandon() bool { return r.state.CompareAndSwap(waiting, abandoned) }

// The duration of a commit depends on the bytes that it writes, and all its requests wait for all
// of them.
const (
	// largeBytes is the number of bytes from which on a request or a commit is large.
	largeBytes = 128 << 10
	// maxLargeBytes bounds the bytes of all large requests of a commit, if there are several.
	maxLargeBytes = 1 << 20
	// maxLarge is the number of senders of large requests that are remembered.
	maxLarge = 1024
)

// queue is the queue of requests that wait for a commit. One goroutine commits at a time. Tenants
// take turns: the first waiting request of each tenant comes before the second one of any tenant,
// and so on. The requests of one tenant stay in the order of their arrival, except large ones: few
// of them share a commit, and the commit after a large one is of small requests only, if any wait.
type queue struct {
	mu     sync.Mutex
	items  []*request // those of the current commit first, then by their rounds
	taken  int        // the number of requests in the current commit
	round  int        // of the last request that was executed
	last   map[string]int
	busy   bool // a commit is in progress
	closed bool
	idle   sync.Cond // signalled when no commit is in progress any more
	// large has the size of the last request of each sender whose last request was large.
	large map[sender]int64
	// pause is set for the commit after a large one, which takes no large requests if small ones
	// wait.
	pause bool
}

func newQueue() *queue {
	q := &queue{last: make(map[string]int), large: make(map[sender]int64)}
	q.idle.L = &q.mu
	return q
}

// add adds a request to the queue. Lead reports that no commit is in progress: the caller must
// commit, until done returns false.
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

// next returns the requests for the next commit. They stay in the queue.
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

// pick moves the requests of the next commit to the front, in their order, and returns their
// number.
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

// learn records whether the requests of a commit were large, to predict the next ones of their
// senders.
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
	q.pause = !q.pause && total >= largeBytes // at most every second commit, however large its requests turn out to be
}

// done removes the first n requests and reports whether there are more. If not, the caller stops
// committing.
func (q *queue) done(n int) (more bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.round = max(q.round, q.items[n-1].round)
	q.learn(q.items[:n])
	left := n < q.taken
	q.items, q.taken = slices.Delete(q.items, 0, n), 0
	if left { // after newer requests with an earlier round
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

// close rejects requests that wait or arrive later, and returns when the current commit has ended.
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
