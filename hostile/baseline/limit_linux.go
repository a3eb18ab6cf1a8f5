package baseline

import "golang.org/x/sys/unix"

// maxMemory is what the machine has for the host: where it asks for more, it dies as it would on a full machine.
const maxMemory = 1 << 30

func limitMemory() error {
	return unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: maxMemory, Max: maxMemory})
}
