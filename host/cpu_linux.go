package host

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// threadCPU locks the goroutine to its thread and starts measuring CPU time. The returned function
// unlocks the goroutine and returns the CPU time that the thread has used since the start.
func threadCPU() func() time.Duration {
	runtime.LockOSThread()
	before := threadTime()
	return func() time.Duration {
		used := threadTime() - before
		runtime.UnlockOSThread()
		return used
	}
}

func threadTime() time.Duration {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts) != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}
