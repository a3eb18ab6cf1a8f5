package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// These constants are the limits of a worker.
const (
	maxDescriptors = 256      // the limit includes pipes and memory files
	maxThreads     = 64       // an engine needs about 15 threads
	maxAddresses   = 16 << 30 // bytes beyond the reservation of Go's runtime; also limits page tables
)

// These constants are maximum file sizes in bytes. One limits compiled code, and the other limits
// memory files.
const (
	maxCompiledFile = 256 << 20
	maxSharedFile   = 1 << 30
	maxMemoryFile   = 256 << 20
)

func limitsDetail() string {
	return fmt.Sprintf("%d threads, %d descriptors, %d GiB of address space, no large files, no core dumps, killed first if the system runs out of memory",
		maxThreads, maxDescriptors, maxAddresses>>30)
}

// setLimits sets the resource limits of the current process; see getrlimit(2). The parent sets the
// memory limit.
func setLimits(h handshake) error {
	signal.Ignore(unix.SIGXFSZ) // a write beyond the limit then fails with EFBIG
	limits := map[int]uint64{
		unix.RLIMIT_CORE: 0, unix.RLIMIT_NOFILE: maxDescriptors, unix.RLIMIT_FSIZE: fileLimit(h),
		unix.RLIMIT_MEMLOCK: 0, unix.RLIMIT_MSGQUEUE: 0, unix.RLIMIT_AS: addressSpaceBytes() + maxAddresses,
	}
	// Without a user namespace, the kernel counts the threads of all processes of the user. A
	// worker with a limit on threads could then not start any threads.
	if h.namespaces && countsThreadsByNamespace() {
		limits[unix.RLIMIT_NPROC] = maxThreads
	}
	var errs []error
	for resource, limit := range limits {
		var now unix.Rlimit
		if err := unix.Getrlimit(resource, &now); err != nil {
			errs = append(errs, err)
			continue
		}
		limit = min(limit, now.Max)
		errs = append(errs, unix.Setrlimit(resource, &unix.Rlimit{Cur: limit, Max: limit}))
	}
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) // the file may not exist
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("set limits: %w", err)
	}
	return nil
}

// disableDumps protects this process from other processes of the same user. Other processes cannot
// trace this process and cannot read its memory through /proc.
func disableDumps() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("PR_SET_DUMPABLE: %w", err)
	}
	return nil
}

// fileLimit returns the maximum size of a file that a worker can write.
func fileLimit(h handshake) uint64 {
	switch {
	case h.job == jobPrepare:
		return maxSharedFile
	case h.job == jobCompile:
		return maxCompiledFile
	case h.mounts.memoryFiles:
		return maxMemoryFile
	}
	return 0
}

// addressSpaceBytes returns the size of this process's address space. If the size is unknown, the
// result is 0.
func addressSpaceBytes() uint64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var pages uint64
	if _, err := fmt.Sscan(string(text), &pages); err != nil {
		return 0
	}
	return pages * uint64(os.Getpagesize())
}

// countsThreadsByNamespace reports whether RLIMIT_NPROC counts threads separately for each user
// namespace. Linux has counted threads in this way since version 5.14.
func countsThreadsByNamespace() bool {
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return false
	}
	var major, minor int
	if _, err := fmt.Sscanf(unix.ByteSliceToString(name.Release[:]), "%d.%d", &major, &minor); err != nil {
		return false
	}
	return major > 5 || major == 5 && minor >= 14
}
