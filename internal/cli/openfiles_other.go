//go:build !unix

package cli

// openFiles returns the maximum number of files that this process can open. On this system, the
// number of open files is not limited.
func openFiles() int { return -1 }
