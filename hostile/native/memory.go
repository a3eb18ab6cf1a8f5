//go:build linux && (amd64 || arm64)

package native

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/toolrun/toolrun/host/sandbox/sandboxtest"
)

// The following constants limit the resources that an attack uses if the attack is not blocked.
const (
	maxThreads = 1000
	maxBytes   = 512 << 20 // the size is eight times the memory limit of a run
)

var threadAttacks = []Attack{
	{Name: "threads/clone", Mechanism: "exhaust the process IDs of the machine with threads outside of Go", run: func(victims) error {
		n, err := sandboxtest.StartThreads(maxThreads)
		if err != nil {
			return fmt.Errorf("%d threads: %w", n, err)
		}
		return nil
	}},
	{Name: "threads/clone_compiled", Mechanism: "exhaust the process IDs of the machine, in a worker with compiled code", compiled: true, run: func(victims) error {
		_, err := sandboxtest.StartThreads(maxThreads)
		return err
	}},
	{Name: "threads/of_the_runtime", Mechanism: "start many threads of Go, each with a stack", run: func(victims) error {
		var ends [2]int
		if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
			return err
		}
		for range maxThreads {
			started := make(chan bool)
			go func() {
				runtime.LockOSThread()
				close(started)
				var b [1]byte
				_, _ = unix.Read(ends[0], b[:])
			}()
			<-started
		}
		return nil
	}},
	{Name: "threads/compiling", Mechanism: "start many threads during compilation", load: func(string) error {
		_, err := sandboxtest.StartThreads(maxThreads)
		return err
	}},
}

var memoryAttacks = []Attack{
	{Name: "memory/file", Mechanism: "fill a memory file, which is charged to no process", run: func(victims) error { return fillMemoryFiles(1, maxBytes) }},
	{Name: "memory/files_of_an_engine", Mechanism: "fill memory files, in a language that requires memory files", compiled: true, run: func(victims) error {
		return fillMemoryFiles(3, 200<<20) // slightly less than the size limit of a file
	}},
	{Name: "memory/huge_file", Mechanism: "create a memory file of huge pages, which are limited for the machine", compiled: true, run: func(victims) error {
		_, err := unix.MemfdCreate("x", unix.MFD_HUGETLB)
		return err
	}},
	{Name: "memory/sparse_file", Mechanism: "create a memory file of a terabyte", compiled: true, run: func(victims) error {
		fd, err := unix.MemfdCreate("x", 0)
		if err != nil {
			return err
		}
		return unix.Ftruncate(fd, 1<<40)
	}},
	{Name: "memory/shared", Mechanism: "allocate shared memory that is not resident and charged to no process", run: func(victims) error {
		all, err := unix.Mmap(-1, 0, maxBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANON)
		for i := 0; i < len(all); i += os.Getpagesize() {
			if all[i] = 1; i%(8<<20) == 0 {
				_ = unix.Madvise(all[:i], unix.MADV_DONTNEED)
			}
		}
		return err
	}},
	{Name: "memory/page_tables", Mechanism: "fill the page tables by reading zeros from many addresses", run: func(victims) error {
		const quarterTerabyte = 1 << 38
		all, err := unix.Mmap(-1, 0, quarterTerabyte, unix.PROT_READ, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
		for i := 0; i < len(all); i += 2 << 20 {
			if all[i] != 0 {
				return errBlocked
			}
		}
		return err
	}},
	{Name: "memory/huge_pages", Mechanism: "map huge pages", run: func(victims) error {
		_, err := unix.Mmap(-1, 0, 2<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_HUGETLB)
		if err == unix.ENOMEM {
			return errBlocked // the machine has no huge pages
		}
		return err
	}},
	{Name: "memory/private", Mechanism: "allocate more memory than the limit of the run", run: func(victims) error {
		all, err := unix.Mmap(-1, 0, maxBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
		for i := 0; i < len(all); i += os.Getpagesize() {
			all[i] = 1
		}
		return err
	}},
	call("memory/system_v", "create shared memory that outlives the process", unix.SYS_SHMGET, 0, maxBytes, unix.IPC_CREAT|0o600),
	call("memory/locked", "lock memory", unix.SYS_MLOCKALL, unix.MCL_FUTURE),
	call("memory/secret", "create secret memory", unix.SYS_MEMFD_SECRET, 0),
}

// fillMemoryFiles writes to memory files, but does not map the files.
func fillMemoryFiles(files, bytes int) error {
	block := make([]byte, 1<<20)
	for range files {
		fd, err := unix.MemfdCreate("x", 0)
		if err != nil {
			return err
		}
		for range bytes >> 20 {
			if _, err := unix.Write(fd, block); err != nil {
				return err
			}
		}
	}
	return nil
}
