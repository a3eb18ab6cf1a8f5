package txn

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/toolrun/toolrun/host/storage"
)

// leaseTime is how long a lock is held at most. A transaction that takes longer goes on without it: locks are for
// fairness, and only the commit's own checks are for correctness.
const leaseTime = 2 * time.Second

// fairLocks lets transactions that met on a record go one after the other, in the order in which they came. Without them,
// most of many that read and write one record would be executed again and again. The zero value is ready.
type fairLocks struct {
	mu     sync.Mutex
	queues map[lockName][]*waiter // the first one holds the lock
	ranges int                    // queues of ranges
}

// lockName is a record or, with under, all records under a prefix.
type lockName struct {
	key   storage.Key
	under bool
}

func (n lockName) compare(other lockName) int {
	return cmp.Or(cmp.Compare(n.key, other.key), compareBool(n.under, other.under))
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// waiter is a transaction's place in the queue of one lock.
type waiter struct {
	name  lockName
	ready chan struct{} // closed when it comes to hold the lock
	timer *time.Timer   // of the lease; set once it holds
}

// lease is the locks that a transaction holds.
type lease struct {
	locks *fairLocks
	all   []*waiter
}

// take waits for the locks of keys and prefixes, and of those prefixes of the keys that others hold, all in one order, so
// that no two transactions wait for each other.
func (l *fairLocks) take(ctx context.Context, keys, prefixes []storage.Key) (*lease, error) {
	h := &lease{locks: l}
	for _, name := range l.names(keys, prefixes) {
		w := l.enqueue(name)
		h.all = append(h.all, w)
		select {
		case <-w.ready:
		case <-ctx.Done():
			h.release()
			return nil, ctx.Err()
		}
	}
	return h, nil
}

// names are the locks to take, in their order.
func (l *fairLocks) names(keys, prefixes []storage.Key) []lockName {
	var names []lockName
	for _, prefix := range prefixes {
		names = append(names, lockName{prefix, true})
	}
	l.mu.Lock()
	for _, key := range keys {
		names = append(names, lockName{key: key})
	}
	l.eachRange(keys, func(name lockName) { names = append(names, name) })
	l.mu.Unlock()
	slices.SortFunc(names, lockName.compare)
	return slices.Compact(names)
}

// eachRange calls do with the locks of prefixes that lie over some of keys, until there are no more. The mutex is held.
func (l *fairLocks) eachRange(keys []storage.Key, do func(lockName)) {
	if l.ranges == 0 {
		return
	}
	for name := range l.queues {
		if name.under && slices.ContainsFunc(keys, func(key storage.Key) bool { return key.HasPrefix(name.key) }) {
			do(name)
		}
	}
}

// enqueue takes a place at the end of a queue.
func (l *fairLocks) enqueue(name lockName) *waiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.queues == nil {
		l.queues = map[lockName][]*waiter{}
	}
	w := &waiter{name: name, ready: make(chan struct{})}
	l.queues[name] = append(l.queues[name], w)
	if len(l.queues[name]) == 1 {
		if name.under {
			l.ranges++
		}
		l.grant(w)
	}
	return w
}

// grant starts a lease. The mutex is held.
func (l *fairLocks) grant(w *waiter) {
	w.timer = time.AfterFunc(leaseTime, func() { l.leave(w) })
	close(w.ready)
}

// leave gives a place up, whether it holds the lock or waits for it. Leaving twice is fine.
func (l *fairLocks) leave(w *waiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	queue := l.queues[w.name]
	i := slices.Index(queue, w)
	if i < 0 {
		return
	}
	if w.timer != nil {
		w.timer.Stop()
	}
	queue = slices.Delete(queue, i, i+1)
	if len(queue) == 0 {
		delete(l.queues, w.name)
		if w.name.under {
			l.ranges--
		}
		return
	}
	l.queues[w.name] = queue
	if i == 0 {
		l.grant(queue[0])
	}
}

// busy reports whether another transaction holds the lock of one of keys, or of a prefix of it.
func (l *fairLocks) busy(keys []storage.Key) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, key := range keys {
		if len(l.queues[lockName{key: key}]) > 0 {
			return true
		}
	}
	found := false
	l.eachRange(keys, func(lockName) { found = true })
	return found
}

// release gives all locks up; nil holds none.
func (h *lease) release() {
	if h == nil {
		return
	}
	for _, w := range h.all {
		h.locks.leave(w)
	}
}

// Lock waits for the fair locks of keys, in one order, and returns a function that gives them up: for work outside of
// transactions that would make the same records conflict. A lock is given up after two seconds in any case; it is never
// what correctness depends on.
func (db *DB) Lock(ctx context.Context, keys ...storage.Key) (unlock func(), err error) {
	l, err := db.locks.take(ctx, keys, nil)
	if err != nil {
		return nil, err
	}
	return l.release, nil
}
