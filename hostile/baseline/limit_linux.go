package baseline

import "golang.org/x/sys/unix"

// maxMemory is the memory limit of the host. If the host uses more memory, the host is killed. On a
// machine without free memory, the kernel would also kill the host.
const maxMemory = 1 << 30

func limitMemory() error {
	return unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: maxMemory, Max: maxMemory})
}
