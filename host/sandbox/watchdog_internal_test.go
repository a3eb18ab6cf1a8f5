package sandbox

import (
	"context"
	"os"
	"testing"
)

// TestCancelledWaitIsNoKill cancels the context of a run. The watchdog must kill a worker whose
// guest computes, but must give a worker whose guest waits for the host time to end the run.
func TestCancelledWaitIsNoKill(t *testing.T) {
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for _, resting := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		g := &watchdog{ctx: ctx, worker: &worker{dead: true, process: self}, resting: resting}
		g.contextDone()
		g.mu.Lock()
		if killed := g.reason != nil; killed == resting {
			t.Errorf("resting = %[2]v: killed = %[1]v; want the opposite", killed, resting)
		}
		g.finished = true
		g.mu.Unlock()
	}
}
