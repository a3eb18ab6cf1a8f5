// Package fairlock provides locks for keys and for key prefixes. Locks are granted in the order of
// the requests.
package fairlock

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"
)

// Locks is a set of locks: one for each key, and one for each prefix. The zero value of Locks is
// ready to use. Locks is safe for concurrent use.
type Locks[K ~string] struct {
	// LeaseTime is the maximum time for which a lock is held. After this time, the holder continues
	// without the lock. Locks with a LeaseTime therefore only provide fairness, and correctness
	// must not depend on them. If LeaseTime is 0, a lock is held until its lease is released.
	LeaseTime time.Duration

	mu     sync.Mutex
	queues map[name[K]][]*request[K] // in each queue, the first request holds the lock
	// prefixes contains the number of queues for each prefix.
	prefixes int
}

// name identifies a lock. If prefix is set, it is the lock of all keys with this prefix. If prefix
// is not set, the lock belongs to one key.
type name[K ~string] struct {
	key    K
	prefix bool
}

func compare[K ~string](a, b name[K]) int {
	if c := cmp.Compare(a.key, b.key); c != 0 || a.prefix == b.prefix {
		return c
	}
	if b.prefix {
		return -1
	}
	return 1
}

// request is an entry in the queue of a lock.
type request[K ~string] struct {
	name    name[K]
	granted chan struct{} // closed when the request holds the lock
	timer   *time.Timer   // ends the lease; nil before the lock is granted, and without a LeaseTime
}

// Lease is a set of locks that a caller holds. Lease is not safe for concurrent use.
type Lease[K ~string] struct {
	locks    *Locks[K]
	requests []*request[K]
}

// Acquire waits for the locks of keys and prefixes. If the lock of a prefix of one of these keys is
// held, Acquire also waits for that lock. Acquire acquires the locks in sorted order, which
// prevents deadlocks. Acquire returns an error only if ctx ends. If ctx ends, no locks are held.
func (l *Locks[K]) Acquire(ctx context.Context, keys, prefixes []K) (*Lease[K], error) {
	h := &Lease[K]{locks: l}
	for _, n := range l.names(keys, prefixes) {
		r := l.enqueue(n)
		h.requests = append(h.requests, r)
		select {
		case <-r.granted:
		case <-ctx.Done():
			h.Release()
			return nil, ctx.Err()
		}
	}
	return h, nil
}

// Release releases all locks of the lease. A nil Lease has no locks. A second call of Release does
// nothing.
func (h *Lease[K]) Release() {
	if h == nil {
		return
	}
	for _, r := range h.requests {
		h.locks.remove(r)
	}
}

// Busy reports whether a lock is held for one of the given keys, or for a prefix of one of these
// keys.
func (l *Locks[K]) Busy(keys []K) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.heldPrefixes(keys)) > 0 || slices.ContainsFunc(keys, func(key K) bool { return len(l.queues[name[K]{key: key}]) > 0 })
}

// names returns the locks to acquire, in order.
func (l *Locks[K]) names(keys, prefixes []K) []name[K] {
	l.mu.Lock()
	names := l.heldPrefixes(keys)
	l.mu.Unlock()
	for _, key := range keys {
		names = append(names, name[K]{key: key})
	}
	for _, prefix := range prefixes {
		names = append(names, name[K]{prefix, true})
	}
	slices.SortFunc(names, compare)
	return slices.Compact(names)
}

// heldPrefixes returns those prefixes of the given keys for which a lock is held. The caller of
// heldPrefixes must hold the mutex.
func (l *Locks[K]) heldPrefixes(keys []K) (names []name[K]) {
	if l.prefixes == 0 {
		return nil
	}
	for n := range l.queues {
		if n.prefix && slices.ContainsFunc(keys, func(key K) bool { return strings.HasPrefix(string(key), string(n.key)) }) {
			names = append(names, n)
		}
	}
	return names
}

// enqueue adds a request to the queue of a lock.
func (l *Locks[K]) enqueue(n name[K]) *request[K] {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.queues == nil {
		l.queues = map[name[K]][]*request[K]{}
	}
	r := &request[K]{name: n, granted: make(chan struct{})}
	l.queues[n] = append(l.queues[n], r)
	if len(l.queues[n]) == 1 {
		if n.prefix {
			l.prefixes++
		}
		l.grant(r)
	}
	return r
}

// grant starts the lease of a request. The caller of grant must hold the mutex.
func (l *Locks[K]) grant(r *request[K]) {
	if l.LeaseTime > 0 {
		r.timer = time.AfterFunc(l.LeaseTime, func() { l.remove(r) })
	}
	close(r.granted)
}

// remove removes a granted or waiting request from its queue. A second call of remove does nothing.
func (l *Locks[K]) remove(r *request[K]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	queue := l.queues[r.name]
	i := slices.Index(queue, r)
	if i < 0 {
		return
	}
	if r.timer != nil {
		r.timer.Stop()
	}
	queue = slices.Delete(queue, i, i+1)
	if len(queue) == 0 {
		delete(l.queues, r.name)
		if r.name.prefix {
			l.prefixes--
		}
		return
	}
	l.queues[r.name] = queue
	if i == 0 {
		l.grant(queue[0])
	}
}
