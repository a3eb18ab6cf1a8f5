package engine

import "sync"

// Door is a rundown guard: it counts active runs, and Close waits until the last one has ended.
// Enter never blocks. The zero value is open. It is safe for concurrent use.
type Door struct {
	mu     sync.Mutex
	closed bool
	runs   sync.WaitGroup
}

// Enter begins a run and reports whether the guard is open. If it is, Leave must be called when the
// run ends.
func (d *Door) Enter() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return false
	}
	d.runs.Add(1)
	return true
}

// Leave ends a run that Enter began.
func (d *Door) Leave() { d.runs.Done() }

// Close rejects new runs and waits for active ones. It reports whether this was the first call of
// Close.
func (d *Door) Close() (first bool) {
	d.mu.Lock()
	first = !d.closed
	d.closed = true
	d.mu.Unlock()
	d.runs.Wait()
	return first
}
