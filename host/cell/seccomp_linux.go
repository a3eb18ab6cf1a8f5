package cell

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// filterCalls has the kernel refuse, with EPERM, every system call that running a guest does not take. Files can be
// opened where Landlock says which, and be written where the cell is there to compile. See seccomp(2).
func filterCalls(mayOpen, mayWrite bool) error {
	if callArchitecture == 0 {
		return errors.New("no filter is made for this architecture")
	}
	program := assemble(mayOpen, mayWrite, uint32(os.Getpid()))
	prog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	thread, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return fmt.Errorf("the kernel takes no filter: %w", errno)
	}
	if thread != 0 {
		return fmt.Errorf("the filter cannot be put on the thread %d", thread)
	}
	return nil
}

// Where the filter finds what it looks at, in struct seccomp_data.
const (
	atNumber       = 0
	atArchitecture = 4
	atArguments    = 16 // 8 bytes each, of which the filter reads the lower half
)

// pagemapScan is the one request of ioctl that a cell may make, PAGEMAP_SCAN: it reads what a process has open of its own
// map of pages.
const pagemapScan = 0xc0606610

// verdicts of the filter.
const (
	refuse  = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	unknown = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS) // has a C library fall back to what came before
)

// assemble writes the filter. Every test is followed by what to do where it holds, so that no jump is longer than one.
func assemble(mayOpen, mayWrite bool, self uint32) []unix.SockFilter {
	var p filter
	p.load(atArchitecture)
	p.unless(unix.BPF_JEQ, callArchitecture, unix.SECCOMP_RET_KILL_PROCESS)
	p.load(atNumber)
	p.when(unix.BPF_JEQ, unix.SYS_CLONE3, unknown)
	for _, number := range allowedCalls(mayOpen, mayWrite) {
		p.when(unix.BPF_JEQ, number, unix.SECCOMP_RET_ALLOW)
	}
	p.argument(unix.SYS_CLONE, 0, unix.BPF_JSET, unix.CLONE_THREAD) // threads of this process, no other process
	p.argument(unix.SYS_TGKILL, 0, unix.BPF_JEQ, self)              // Go interrupts its own threads by signals
	p.argument(unix.SYS_KILL, 0, unix.BPF_JEQ, self)
	p.argument(unix.SYS_IOCTL, 1, unix.BPF_JEQ, pagemapScan) // which of its pages a guest wrote to
	if mayOpen && !mayWrite {
		const writes = unix.O_WRONLY | unix.O_RDWR | unix.O_CREAT | unix.O_TRUNC | unix.O_APPEND
		p.load(atNumber)
		p.unless(unix.BPF_JEQ, unix.SYS_OPENAT, refuse)
		p.load(atArguments + 2*8)
		p.unless(unix.BPF_JSET, writes, unix.SECCOMP_RET_ALLOW)
	}
	return append(p, unix.SockFilter{Code: unix.BPF_RET, K: refuse})
}

// filter is a program for the kernel's packet filter, bpf(4).
type filter []unix.SockFilter

// load takes four bytes of the call that is looked at.
func (p *filter) load(at uint32) {
	*p = append(*p, unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at})
}

// when ends the filter with a verdict where a test holds.
func (p *filter) when(test uint16, value, verdict uint32) {
	*p = append(*p,
		unix.SockFilter{Code: unix.BPF_JMP | test | unix.BPF_K, K: value, Jf: 1},
		unix.SockFilter{Code: unix.BPF_RET, K: verdict})
}

// unless ends the filter with a verdict where a test does not hold.
func (p *filter) unless(test uint16, value, verdict uint32) {
	*p = append(*p,
		unix.SockFilter{Code: unix.BPF_JMP | test | unix.BPF_K, K: value, Jt: 1},
		unix.SockFilter{Code: unix.BPF_RET, K: verdict})
}

// argument allows a call where an argument passes a test, and refuses it where not.
func (p *filter) argument(number uint32, index uint32, test uint16, value uint32) {
	*p = append(*p, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: number, Jf: 4})
	p.load(atArguments + 8*index)
	p.when(test, value, unix.SECCOMP_RET_ALLOW)
	*p = append(*p, unix.SockFilter{Code: unix.BPF_RET, K: refuse})
}

// allowedCalls are the system calls that Go's runtime and the engines make once a cell is ready.
func allowedCalls(mayOpen, mayWrite bool) []uint32 {
	allowed := append([]uint32{
		// the wire, and what a memory is made of
		unix.SYS_READ, unix.SYS_WRITE, unix.SYS_CLOSE, unix.SYS_FSTAT, unix.SYS_LSEEK, unix.SYS_PREAD64, unix.SYS_PWRITE64,
		unix.SYS_FCNTL, unix.SYS_MEMFD_CREATE, unix.SYS_FTRUNCATE,
		unix.SYS_MMAP, unix.SYS_MPROTECT, unix.SYS_MUNMAP, unix.SYS_MREMAP, unix.SYS_MADVISE, unix.SYS_MINCORE, unix.SYS_BRK,
		// Go's scheduler and poller
		unix.SYS_FUTEX, unix.SYS_SCHED_YIELD, unix.SYS_SCHED_GETAFFINITY, unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP,
		unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_PWAIT, unix.SYS_EVENTFD2, unix.SYS_PIPE2,
		unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_SIGALTSTACK, unix.SYS_RESTART_SYSCALL,
		unix.SYS_EXIT, unix.SYS_EXIT_GROUP,
		// the threads of a C library, where the program has one
		unix.SYS_SET_ROBUST_LIST, unix.SYS_RSEQ, unix.SYS_SET_TID_ADDRESS, unix.SYS_MEMBARRIER,
		// what time it is, chance, and who this is
		unix.SYS_CLOCK_GETTIME, unix.SYS_CLOCK_GETRES, unix.SYS_GETTIMEOFDAY, unix.SYS_GETRANDOM, unix.SYS_UNAME,
		unix.SYS_GETPID, unix.SYS_GETPPID, unix.SYS_GETTID, unix.SYS_GETUID, unix.SYS_GETEUID, unix.SYS_GETGID, unix.SYS_GETEGID, unix.SYS_GETCWD,
	}, architectureCalls...)
	if mayOpen {
		allowed = append(allowed, callFstatat, unix.SYS_GETDENTS64, unix.SYS_READLINKAT)
	}
	if mayOpen && mayWrite {
		allowed = append(allowed, unix.SYS_OPENAT, unix.SYS_MKDIRAT, unix.SYS_UNLINKAT, callRenameat, unix.SYS_RENAMEAT2, unix.SYS_FSYNC, unix.SYS_FCHMOD)
	}
	return allowed
}
