package sandbox

import (
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// TestEmptyUnderSignals sends signals to the thread, as Go's runtime often does. The signals must
// not affect the result of the method "empty".
func TestEmptyUnderSignals(t *testing.T) {
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
			t.Fatal("empty = false before any write; want true")
		}
	}
	if _, err := out.WriteString("x"); err != nil {
		t.Fatal(err)
	}
	if l.empty() {
		t.Error("empty = true after a write; want false")
	}
}
