package sandbox

import (
	"context"
	"os"
	"testing"
)

// TestCancelledWaitIsNoKill cancels the context of a run. If the guest computes, the watchdog must
// kill the worker. If the guest waits for the host, the watchdog must give the worker some time to
// end the run.
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
