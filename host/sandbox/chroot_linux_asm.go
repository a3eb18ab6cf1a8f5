//go:build linux && (amd64 || arm64)

package sandbox

// cloneChroot starts a process. The process closes the descriptor in the argument "to" and reads a
// byte from the descriptor in the argument "from". Then the process makes the folder in the
// argument "root" its current folder and its root. Finally, it exits. If all steps succeed, the
// exit code is 0. If a step fails, the exit code is 1.
//
//go:noescape
func cloneChroot(flags, stack, root, from, to, dot uintptr) uintptr
