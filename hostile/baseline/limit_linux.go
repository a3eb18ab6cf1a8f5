package baseline

import "golang.org/x/sys/unix"

// maxMemory is the memory of the host. If it needs more, it dies as on a machine without free
// memory.
const maxMemory = 1 << 30

func limitMemory() error {
	return unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: maxMemory, Max: maxMemory})
}
