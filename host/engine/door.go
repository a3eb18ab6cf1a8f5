package engine

import "sync"

// Door lets runs in until it is closed, and closes when the last of them has left. Unlike a lock it keeps nobody waiting
// who wants in. The zero value is open. It is safe for concurrent use.
type Door struct {
	mu     sync.Mutex
	closed bool
	runs   sync.WaitGroup
}

// Enter reports whether the door is open; then Leave is called in the end.
func (d *Door) Enter() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return false
	}
	d.runs.Add(1)
	return true
}

// Leave ends what Enter let in.
func (d *Door) Leave() { d.runs.Done() }

// Close waits for the runs under way, and reports whether it was the first to close.
func (d *Door) Close() (first bool) {
	d.mu.Lock()
	first = !d.closed
	d.closed = true
	d.mu.Unlock()
	d.runs.Wait()
	return first
}
