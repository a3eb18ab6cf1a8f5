package bolt

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/toolrun/toolrun/host/storage"
)

// request is something to be done in a write transaction, and the caller who waits for it.
type request struct {
	// do is called by who commits, and again where the transaction it was part of failed because of another
	// request. Its error is the caller's and undoes nothing, unless it stopped in the middle of writing.
	do func(t *transaction) error
	// tenant is whose turn in the queue the request takes, and round the one that it takes it in.
	tenant string
	round  int
	state  atomic.Int32
	done   chan struct{} // closed when err is final
	err    error
}

// The states of a request. Whoever takes it out of waiting decides whether it takes place.
const (
	waiting int32 = iota
	begun
	abandoned
)

// begin reports whether the request is to be carried out: its caller still waits, or can no longer leave.
func (r *request) begin() bool {
	return r.state.CompareAndSwap(waiting, begun) || r.state.Load() == begun
}

// abandon reports whether the request was taken back before it was begun.
func (r *request) abandon() bool { return r.state.CompareAndSwap(waiting, abandoned) }

// queue holds the requests that wait for a commit, and says who commits: one goroutine at a time. Tenants take
// turns: the first request that each of them waits with comes before the second one of any, whenever it came, and
// so on. Those of one tenant stay in the order in which they came.
type queue struct {
	mu     sync.Mutex
	items  []*request // those of the commit under way first, then by their rounds
	taken  int        // how many are of the commit under way
	round  int        // of the last request that was carried out
	last   map[string]int
	busy   bool // a commit is under way
	closed bool
	idle   sync.Cond // signalled when no commit is under way any more
}

func newQueue() *queue {
	q := &queue{last: make(map[string]int)}
	q.idle.L = &q.mu
	return q
}

// add puts a request into the queue. lead says that no commit is under way: the caller is to do it, until done
// returns false.
func (q *queue) add(r *request) (lead bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false, storage.ErrClosed
	}
	r.round = max(q.round, q.last[r.tenant]) + 1
	q.last[r.tenant] = r.round
	at := len(q.items)
	for at > q.taken && q.items[at-1].round > r.round {
		at--
	}
	q.items = slices.Insert(q.items, at, r)
	lead, q.busy = !q.busy, true
	return lead, nil
}

// next returns the requests for one commit; they stay in the queue.
func (q *queue) next() []*request {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.taken = min(len(q.items), maxBatch)
	return q.items[:q.taken:q.taken]
}

// done removes the first n requests and reports whether there are more. If not, nobody commits any more.
func (q *queue) done(n int) (more bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.round = q.items[n-1].round
	left := n < q.taken
	q.items, q.taken = slices.Delete(q.items, 0, n), 0
	if left { // behind what came meanwhile, where that has an earlier round
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

// close refuses what waits and what is still to come, and returns when the commit under way has ended.
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
