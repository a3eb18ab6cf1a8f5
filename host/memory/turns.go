package memory

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/toolrun/toolrun/host/storage"
)

// turnLease is how long a turn is held at the most. A run that takes longer goes on without it: turns are
// for fairness, and only the commit's own checks are for correctness.
const turnLease = 2 * time.Second

// turns lets runs that met on a record go one after the other, in the order of their coming. Without them, of
// many runs that read and write one record, most would be executed again and again. The zero value is ready.
type turns struct {
	mu     sync.Mutex
	queues map[storage.Key][]*turn // the first one holds the key
}

// turn is one run's place in the queue of one key.
type turn struct {
	key   storage.Key
	ready chan struct{} // closed when it comes to hold the key
	timer *time.Timer   // of the lease; set once it holds
}

// held are the turns that a run holds.
type held struct {
	turns *turns
	all   []*turn
}

// take waits for the turns of all keys, in the order of keys, so that no two runs wait for each other.
func (t *turns) take(ctx context.Context, keys []storage.Key) (*held, error) {
	h := &held{turns: t}
	sorted := slices.Compact(slices.Sorted(slices.Values(keys)))
	for _, key := range sorted {
		mine := t.queue(key)
		h.all = append(h.all, mine)
		select {
		case <-mine.ready:
		case <-ctx.Done():
			h.release()
			return nil, endOf(ctx)
		}
	}
	return h, nil
}

// queue takes a place at the end of the key's queue.
func (t *turns) queue(key storage.Key) *turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.queues == nil {
		t.queues = map[storage.Key][]*turn{}
	}
	mine := &turn{key: key, ready: make(chan struct{})}
	t.queues[key] = append(t.queues[key], mine)
	if len(t.queues[key]) == 1 {
		t.grant(mine)
	}
	return mine
}

// grant lets a turn begin. The lock is held.
func (t *turns) grant(mine *turn) {
	mine.timer = time.AfterFunc(turnLease, func() { t.leave(mine) })
	close(mine.ready)
}

// leave gives a place up, whether it holds the key or waits for it. Leaving twice is fine.
func (t *turns) leave(mine *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	queue := t.queues[mine.key]
	i := slices.Index(queue, mine)
	if i < 0 {
		return
	}
	if mine.timer != nil {
		mine.timer.Stop()
	}
	queue = slices.Delete(queue, i, i+1)
	if len(queue) == 0 {
		delete(t.queues, mine.key)
		return
	}
	t.queues[mine.key] = queue
	if i == 0 {
		t.grant(queue[0])
	}
}

// busy reports whether somebody else holds one of the keys.
func (t *turns) busy(keys []storage.Key) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, key := range keys {
		if len(t.queues[key]) > 0 {
			return true
		}
	}
	return false
}

// release gives all turns up; nil holds none.
func (h *held) release() {
	if h == nil {
		return
	}
	for _, mine := range h.all {
		h.turns.leave(mine)
	}
}
