package sandbox

import (
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// A thread that is interrupted, as Go interrupts all of its own, says nothing of the worker.
func TestQuietUnderSignals(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer out.Close()
	l := &pipe{in: int(in.Fd()), pidfd: -1}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	self, over := unix.Gettid(), make(chan struct{})
	defer close(over)
	go func() {
		for {
			select {
			case <-over:
				return
			default:
				_ = unix.Tgkill(os.Getpid(), self, unix.SIGURG)
			}
		}
	}()
	for range 20_000 {
		if !l.empty() {
			t.Fatal("a worker that said nothing is not quiet")
		}
	}
	if _, err := out.WriteString("x"); err != nil {
		t.Fatal(err)
	}
	if l.empty() {
		t.Error("a worker that said something is quiet")
	}
}
