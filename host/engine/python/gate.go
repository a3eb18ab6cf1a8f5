package python

import "sync"

// gate lets runs in until it is closed, and closes when the last of them has left. Unlike a lock it keeps nobody
// waiting who wants in.
type gate struct {
	mu     sync.Mutex
	closed bool
	runs   sync.WaitGroup
}

func (g *gate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.runs.Add(1)
	return true
}

func (g *gate) leave() { g.runs.Done() }

// close waits for the runs under way, and reports whether it was the first to close.
func (g *gate) close() (first bool) {
	g.mu.Lock()
	first = !g.closed
	g.closed = true
	g.mu.Unlock()
	g.runs.Wait()
	return first
}
