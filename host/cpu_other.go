//go:build !linux

package host

import "time"

// threadCPU measures wall-clock time, on systems without a clock for the CPU time of a thread.
func threadCPU() func() time.Duration {
	began := time.Now()
	return func() time.Duration { return time.Since(began) }
}
