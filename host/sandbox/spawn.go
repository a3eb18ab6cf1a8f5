package sandbox

import (
	"runtime"
	"sync"
)

// spawner starts processes from one OS thread. The OS thread exists until the method "close" of the
// spawner is called. The kernel kills a worker when the thread that started the worker ends
// (PR_SET_PDEATHSIG in prctl(2)). All other threads of a Go program can end at any time.
type spawner struct {
	mu     sync.Mutex // locked while a function runs on the thread
	closed bool
	work   chan func()
	done   chan struct{}
}

func newSpawner() *spawner {
	t := &spawner{work: make(chan func()), done: make(chan struct{})}
	go func() {
		runtime.LockOSThread() // never unlocked, so the thread ends with the goroutine, and the kernel kills the remaining workers
		for f := range t.work {
			f()
			t.done <- struct{}{}
		}
	}()
	return t
}

// The method "do" runs f on the thread. The result is false if the spawner is closed.
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
