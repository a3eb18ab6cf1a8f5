package abl

import (
	"syscall"
	"time"
)

// clock returns the CPU time of the thread. Other processes do not affect this time.
func clock() time.Duration {
	const thread = 1 // RUSAGE_THREAD
	var used syscall.Rusage
	if err := syscall.Getrusage(thread, &used); err != nil {
		panic(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
