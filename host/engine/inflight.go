package engine

import "sync"

// Inflight is a rundown guard. Inflight counts active runs, and Close waits until the last active
// run has ended. Enter never blocks. The zero Inflight is open. Inflight is safe for concurrent
// use.
type Inflight struct {
	mu     sync.Mutex
	closed bool
	runs   sync.WaitGroup
}

// Enter begins a run if the guard is open, and reports whether it did. If Enter returns true, call
// Leave when the run ends.
func (i *Inflight) Enter() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.closed {
		return false
	}
	i.runs.Add(1)
	return true
}

// Leave ends a run that Enter began.
func (i *Inflight) Leave() { i.runs.Done() }

// Close rejects new runs and waits for active runs. Close reports whether this was the first call
// of Close.
func (i *Inflight) Close() (first bool) {
	i.mu.Lock()
	first = !i.closed
	i.closed = true
	i.mu.Unlock()
	i.runs.Wait()
	return first
}
