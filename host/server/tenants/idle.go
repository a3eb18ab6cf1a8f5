package tenants

import (
	"sync"
	"time"
)

// use counts a use of the host. The caller holds Apps.mu.
func (o *openHost) use() {
	o.uses.Add(1)
	o.inUse++
	o.used = time.Now()
}

// release ends a use of a host.
func (a *Apps) release(o *openHost) {
	a.mu.Lock()
	o.inUse--
	o.used = time.Now()
	a.mu.Unlock()
	o.uses.Done()
}

// runIdleCloser closes idle hosts until Close is called.
func (a *Apps) runIdleCloser() {
	ticker := time.NewTicker(max(a.options.Idle/4, time.Millisecond))
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			a.closeIdle(time.Now().Add(-a.options.Idle))
		case <-a.stop:
			return
		}
	}
}

// closeIdle closes idle hosts whose last use was before the given time. For hosts that are still in
// use, closeIdle calls OnIdle instead.
func (a *Apps) closeIdle(before time.Time) {
	a.working.RLock()
	defer a.working.RUnlock()
	var held []*openHost
	a.mu.Lock()
	for at, o := range a.hosts {
		switch {
		case !o.used.Before(before):
		case o.inUse == 0:
			delete(a.hosts, at)
			a.retire(o)
		default:
			held = append(held, o)
		}
	}
	a.mu.Unlock()
	if a.options.OnIdle == nil {
		return
	}
	for _, o := range held {
		<-o.ready
		if o.host != nil {
			a.options.OnIdle(o.host)
		}
	}
}

// closeOldest closes the least recently used idle host. The result is false if no host is idle. The
// caller holds mu.
func (a *Apps) closeOldest() bool {
	var oldest hostKey
	var found *openHost
	for at, o := range a.hosts {
		if o.inUse == 0 && (found == nil || o.used.Before(found.used)) {
			oldest, found = at, o
		}
	}
	if found == nil {
		return false
	}
	delete(a.hosts, oldest)
	a.retire(found)
	return true
}

// keyedMutex is a set of mutexes, one for each host key.
type keyedMutex struct {
	mu    sync.Mutex
	locks map[hostKey]*keyedMutexEntry
}

type keyedMutexEntry struct {
	sync.Mutex
	users int
}

// lock locks the mutex of a key. The returned function unlocks the mutex.
func (k *keyedMutex) lock(at hostKey) func() {
	k.mu.Lock()
	if k.locks == nil {
		k.locks = map[hostKey]*keyedMutexEntry{}
	}
	l := k.locks[at]
	if l == nil {
		l = &keyedMutexEntry{}
		k.locks[at] = l
	}
	l.users++
	k.mu.Unlock()
	l.Lock()
	return func() {
		l.Unlock()
		k.mu.Lock()
		defer k.mu.Unlock()
		if l.users--; l.users == 0 {
			delete(k.locks, at)
		}
	}
}
