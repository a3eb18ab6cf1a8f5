package sandbox

import (
	"runtime"
	"sync"
)

// thread starts processes, all from one thread of the system that lives until it is closed. A worker is killed by the
// kernel when the thread that started it ends, see PR_SET_PDEATHSIG in prctl(2), and Go's other threads come and go.
type spawner struct {
	mu     sync.Mutex // held while a function runs
	closed bool
	work   chan func()
	done   chan struct{}
}

func newSpawner() *spawner {
	t := &spawner{work: make(chan func()), done: make(chan struct{})}
	go func() {
		runtime.LockOSThread() // and never unlocked: with the goroutine ends the thread, and with it what is left of the workers
		for f := range t.work {
			f()
			t.done <- struct{}{}
		}
	}()
	return t
}

// do runs f on the thread. It returns false where the thread was closed.
func (t *spawner) do(f func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return false
	}
	t.work <- f
	<-t.done
	return true
}

func (t *spawner) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.closed = true
		close(t.work)
	}
}
