package bolt

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/toolrun/toolrun/host/storage"
)

// request is something to be done in a write transaction, and the caller who waits for it.
type request struct {
	// do is called by who commits, and again where the transaction it was part of failed because of another
	// request. Its error is the caller's and undoes nothing, unless it stopped in the middle of writing.
	do    func(t *transaction) error
	state atomic.Int32
	done  chan struct{} // closed when err is final
	err   error
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

// queue holds the requests that wait for a commit, in the order in which they came, and says who commits: one
// goroutine at a time.
type queue struct {
	mu     sync.Mutex
	items  []*request // those of the commit under way first
	busy   bool       // somebody commits
	closed bool
	idle   sync.Cond // signalled when nobody commits any more
}

func newQueue() *queue {
	q := &queue{}
	q.idle.L = &q.mu
	return q
}

// add puts a request last. lead says that nobody commits: the caller is to do it, until done returns false.
func (q *queue) add(r *request) (lead bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false, storage.ErrClosed
	}
	q.items = append(q.items, r)
	lead, q.busy = !q.busy, true
	return lead, nil
}

// next returns the requests for one commit; they stay in the queue.
func (q *queue) next() []*request {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.items[:min(len(q.items), maxBatch)]
}

// done removes the first n requests and reports whether there are more. If not, nobody commits any more.
func (q *queue) done(n int) (more bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.items = slices.Delete(q.items, 0, n)
	q.busy = len(q.items) > 0
	if !q.busy {
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
