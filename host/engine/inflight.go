package engine

import "sync"

// Inflight is a rundown guard. An Inflight counts the active runs. Close waits until the last of
// these runs has ended. Enter never blocks. The zero value is an open Inflight. An Inflight is safe
// for concurrent use.
type Inflight struct {
	mu     sync.Mutex
	closed bool
	runs   sync.WaitGroup
}

// Enter begins a run if the Inflight is open. Enter reports whether the run has begun. If Enter
// returns true, Leave must be called when the run ends.
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

// Close rejects new runs, and waits until the active runs have ended. The result is true for the
// first call of Close.
func (i *Inflight) Close() (first bool) {
	i.mu.Lock()
	first = !i.closed
	i.closed = true
	i.mu.Unlock()
	i.runs.Wait()
	return first
}
