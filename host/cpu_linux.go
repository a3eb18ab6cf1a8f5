package host

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// threadCPU keeps the goroutine on its thread until the function that it returns is called, which tells how
// much CPU time the thread used in between.
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
