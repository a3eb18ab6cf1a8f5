//go:build !unix

package cli

// openFiles returns the limit on open files of this process. On this system, the number of open
// files is not limited.
func openFiles() int { return -1 }
