//go:build linux && (amd64 || arm64)

package sandbox

// cloneChroot starts a process that closes the descriptor in the argument "to", and reads a byte.
// After reading the byte, the process makes the folder in the argument "root" its current folder
// and its root, and exits. The exit code is 0, or 1 if a step failed.
//
//go:noescape
func cloneChroot(flags, stack, root, from, to, dot uintptr) uintptr
