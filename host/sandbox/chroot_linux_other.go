//go:build linux && !amd64 && !arm64

package sandbox

import "golang.org/x/sys/unix"

// cloneChroot is not implemented for this architecture.
func cloneChroot(_, _, _, _, _, _ uintptr) uintptr {
	failed := -int(unix.ENOSYS)
	return uintptr(failed)
}
