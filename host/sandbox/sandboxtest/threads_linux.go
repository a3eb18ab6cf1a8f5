//go:build linux && (amd64 || arm64)

package sandboxtest

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// cloneParked starts a thread that repeatedly reads a byte from a descriptor. The thread does not
// use a stack.
//
//go:noescape
func cloneParked(flags, stack, fd uintptr) uintptr

var parkedStack [4096]byte

// StartThreads starts threads that Go's runtime does not know. Each thread waits until the process
// ends. StartThreads returns the number of started threads and the error of the first thread that
// could not start.
func StartThreads(n int) (started int, err error) {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return 0, err
	}
	const flags = unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_THREAD | unix.CLONE_SYSVSEM
	for ; started < n; started++ {
		r := cloneParked(flags, uintptr(unsafe.Pointer(&parkedStack[2048])), uintptr(ends[0]))
		if errno := -int(r); errno > 0 && errno < 4096 {
			return started, syscall.Errno(errno)
		}
	}
	return started, nil
}
