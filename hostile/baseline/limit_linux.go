package baseline

import "golang.org/x/sys/unix"

// maxMemory is the memory limit of the host. If the host needs more memory, it is killed, as on a
// machine without free memory.
const maxMemory = 1 << 30

func limitMemory() error {
	return unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: maxMemory, Max: maxMemory})
}
