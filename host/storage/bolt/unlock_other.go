//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package bolt

import "os"

// unlock does nothing. On this system, closing a file releases its lock.
func unlock(*os.File) error { return nil }
