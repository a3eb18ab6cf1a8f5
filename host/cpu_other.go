//go:build !linux

package host

import "time"

// threadCPU measures wall-clock time, because this system has no clock for the CPU time of a
// thread.
func threadCPU() func() time.Duration {
	began := time.Now()
	return func() time.Duration { return time.Since(began) }
}
