package baseline

import "golang.org/x/sys/unix"

// maxMemory is the memory limit of the host. A host that needs more memory dies, as it would on a
// machine without free memory.
const maxMemory = 1 << 30

func limitMemory() error {
	return unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: maxMemory, Max: maxMemory})
}
