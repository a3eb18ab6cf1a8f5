//go:build linux && (amd64 || arm64)

package sandbox

// cloneChroot starts a process that closes the descriptor to, reads a byte, makes the folder root its
// current folder and its root, and exits: with 0, or with 1 if that failed.
//
//go:noescape
func cloneChroot(flags, stack, root, from, to, dot uintptr) uintptr
