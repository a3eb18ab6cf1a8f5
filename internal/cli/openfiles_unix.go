//go:build unix

package cli

import (
	"math"
	"syscall"
)

// openFiles returns the maximum number of files that this process can open. If no limit exists,
// the result is negative. Go raises the soft limit to the hard limit at startup.
func openFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || uint64(limit.Cur) > math.MaxInt32 {
		return -1
	}
	return int(limit.Cur)
}
