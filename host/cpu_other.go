//go:build !linux

package host

import "time"

// threadCPU measures the time that passed, where the system does not tell a thread's CPU time.
func threadCPU() func() time.Duration {
	began := time.Now()
	return func() time.Duration { return time.Since(began) }
}
