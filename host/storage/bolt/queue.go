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
	// from is whose turn in the queue the request takes, and round the one that it takes it in.
	from  sender
	round int
	bytes int64 // of contents that do wrote and removed, about
	state atomic.Int32
	done  chan struct{} // closed when err is final
	err   error
}

// sender is who requests come from.
type sender struct {
	tenant string // in whose turn
	// key is what a request is about, above all. What the last one about it wrote foretells what the next one will.
	key storage.Key
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

// How long a commit takes depends on the bytes that it writes, and everybody in it waits for all of them.
const (
	// largeBytes is from which number of bytes on a request or a commit is large.
	largeBytes = 128 << 10
	// maxLargeBytes is how many bytes the large requests of one commit have together, if there are several.
	maxLargeBytes = 1 << 20
	// maxLarge is how many senders of large requests are remembered.
	maxLarge = 1024
)

// queue holds the requests that wait for a commit, and says who commits: one goroutine at a time. Tenants take
// turns: the first request that each of them waits with comes before the second one of any, whenever it came, and
// so on. Those of one tenant stay in the order in which they came, but for large ones: few of them share a commit, and
// the commit after a large one is of small requests only, if any wait.
type queue struct {
	mu     sync.Mutex
	items  []*request // those of the commit under way first, then by their rounds
	taken  int        // how many are of the commit under way
	round  int        // of the last request that was carried out
	last   map[string]int
	busy   bool // a commit is under way
	closed bool
	idle   sync.Cond // signalled when no commit is under way any more
	// large is the bytes of the last request, of senders whose last one was large.
	large map[sender]int64
	// pause is true for the commit after a large one, which gets no large requests if small ones wait.
	pause bool
}

func newQueue() *queue {
	q := &queue{last: make(map[string]int), large: make(map[sender]int64)}
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

// next returns the requests for one commit; they stay in the queue.
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

// pick moves the requests of the next commit to the front, in their order, and returns how many they are.
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

// foretell remembers whether the requests of a commit were large, for the next ones of their senders.
func (q *queue) foretell(done []*request) {
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
	q.pause = !q.pause && total >= largeBytes // at most every second one, whatever small requests turn out to write
}

// done removes the first n requests and reports whether there are more. If not, nobody commits any more.
func (q *queue) done(n int) (more bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.round = max(q.round, q.items[n-1].round)
	q.foretell(q.items[:n])
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
