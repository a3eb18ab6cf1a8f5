//go:build unix

package cli

import (
	"math"
	"syscall"
)

// openFiles returns how many files this process may have open, less than 0 for any number. Go has raised the soft limit to
// the hard one when the process began.
func openFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || uint64(limit.Cur) > math.MaxInt32 {
		return -1
	}
	return int(limit.Cur)
}
