package sandbox

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// permissions contains the permissions that depend on the job of a worker.
type permissions struct {
	open        bool // the worker can open files; another layer restricts which files
	write       bool // write files; requires open
	memoryFiles bool // memfd_create and ftruncate
}

// installFilter makes the kernel deny every system call that a guest does not need. Denied calls
// fail with EPERM. See seccomp(2).
func installFilter(may permissions) error {
	if callArchitecture == 0 {
		return errors.New("the seccomp filter does not support this architecture")
	}
	program := buildFilter(may, uint32(os.Getpid()))
	prog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	thread, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return fmt.Errorf("the kernel rejects the seccomp filter: %w", errno)
	}
	if thread != 0 {
		return fmt.Errorf("cannot apply the seccomp filter to thread %d", thread)
	}
	return nil
}

// Offsets in struct seccomp_data.
const (
	atNumber       = 0
	atArchitecture = 4
	atArguments    = 16 // each argument has 8 bytes; the filter reads the lower half
)

// pagemapScan is PAGEMAP_SCAN, the only ioctl request that a worker can make. The worker can use
// PAGEMAP_SCAN only for the open page map of its own process.
const pagemapScan = 0xc0606610

// newNamespaces contains the flags of clone that create namespaces.
const newNamespaces = unix.CLONE_NEWCGROUP | unix.CLONE_NEWIPC | unix.CLONE_NEWNET | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWUSER | unix.CLONE_NEWUTS

// argument returns the offset of the lower half of a system call argument.
func argument(index uint32) uint32 { return atArguments + 8*index }

// The actions of the filter.
const (
	deny           = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	notImplemented = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS) // libc then uses older calls
)

// buildFilter returns the filter as a program. If a test of the program is true, the program
// returns the action that follows the test.
func buildFilter(may permissions, self uint32) []unix.SockFilter {
	var p filter
	p.load(atArchitecture)
	p.returnUnless(unix.BPF_JEQ, callArchitecture, unix.SECCOMP_RET_KILL_PROCESS)
	p.load(atNumber)
	p.returnIf(unix.BPF_JEQ, unix.SYS_CLONE3, notImplemented)
	for _, number := range allowedCalls(may) {
		p.returnIf(unix.BPF_JEQ, number, unix.SECCOMP_RET_ALLOW)
	}
	p.forCall(unix.SYS_MMAP, func() { // nothing limits huge pages or shared anonymous memory
		p.load(argument(3))
		p.returnIf(unix.BPF_JSET, unix.MAP_HUGETLB, deny)
		p.returnUnless(unix.BPF_JSET, unix.MAP_ANONYMOUS, unix.SECCOMP_RET_ALLOW)
		p.returnUnless(unix.BPF_JSET, unix.MAP_SHARED, unix.SECCOMP_RET_ALLOW)
	})
	p.forCall(unix.SYS_CLONE, func() { // allow threads of this process, but no processes
		p.load(argument(0))
		p.returnIf(unix.BPF_JSET, newNamespaces, deny)
		p.returnIf(unix.BPF_JSET, unix.CLONE_THREAD, unix.SECCOMP_RET_ALLOW)
	})
	p.allowValues(unix.SYS_TGKILL, 0, self) // Go interrupts its own threads with signals
	p.allowValues(unix.SYS_KILL, 0, self)
	p.allowValues(unix.SYS_IOCTL, 1, pagemapScan) // the request finds the pages that a guest has written
	// The filter denies three kinds of commands: to set the receiver of signals, to take a lease,
	// and to resize a pipe.
	p.allowValues(unix.SYS_FCNTL, 1, unix.F_GETFD, unix.F_SETFD, unix.F_GETFL, unix.F_SETFL, unix.F_DUPFD_CLOEXEC, unix.F_ADD_SEALS, unix.F_GET_SEALS)
	if may.memoryFiles {
		p.forCall(unix.SYS_MEMFD_CREATE, func() {
			p.load(argument(1))
			p.returnUnless(unix.BPF_JSET, ^uint32(unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING), unix.SECCOMP_RET_ALLOW)
		})
	}
	if may.open && !may.write {
		const others = unix.O_WRONLY | unix.O_RDWR | unix.O_CREAT | unix.O_TRUNC | unix.O_APPEND | unix.O_PATH | unix.O_ASYNC
		p.forCall(unix.SYS_OPENAT, func() {
			p.load(argument(2))
			p.returnUnless(unix.BPF_JSET, others, unix.SECCOMP_RET_ALLOW)
		})
	}
	return append(p, unix.SockFilter{Code: unix.BPF_RET, K: deny})
}

// filter is a program for the kernel's packet filter, bpf(4).
type filter []unix.SockFilter

// load loads four bytes of the system call data.
func (p *filter) load(at uint32) {
	*p = append(*p, unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at})
}

// returnIf returns an action if a test is true.
func (p *filter) returnIf(test uint16, value, action uint32) {
	*p = append(*p,
		unix.SockFilter{Code: unix.BPF_JMP | test | unix.BPF_K, K: value, Jf: 1},
		unix.SockFilter{Code: unix.BPF_RET, K: action})
}

// returnUnless returns an action if a test is false.
func (p *filter) returnUnless(test uint16, value, action uint32) {
	*p = append(*p,
		unix.SockFilter{Code: unix.BPF_JMP | test | unix.BPF_K, K: value, Jt: 1},
		unix.SockFilter{Code: unix.BPF_RET, K: action})
}

// forCall applies tests to one system call. If no test returns an action, the call is denied.
func (p *filter) forCall(number uint32, tests func()) {
	jump := len(*p)
	*p = append(*p, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: number})
	tests()
	*p = append(*p, unix.SockFilter{Code: unix.BPF_RET, K: deny})
	(*p)[jump].Jf = uint8(len(*p) - jump - 1)
}

// allowValues allows a system call if an argument of the call has one of the given values.
func (p *filter) allowValues(number, index uint32, values ...uint32) {
	p.forCall(number, func() {
		p.load(argument(index))
		for _, value := range values {
			p.returnIf(unix.BPF_JEQ, value, unix.SECCOMP_RET_ALLOW)
		}
	})
}

// allowedCalls returns the system calls that Go's runtime and the engines make after a worker has
// started.
func allowedCalls(may permissions) []uint32 {
	allowed := append([]uint32{
		// pipes and memory
		unix.SYS_READ, unix.SYS_WRITE, unix.SYS_CLOSE, unix.SYS_FSTAT, unix.SYS_LSEEK, unix.SYS_PREAD64, unix.SYS_PWRITE64,
		unix.SYS_MPROTECT, unix.SYS_MUNMAP, unix.SYS_MREMAP, unix.SYS_MADVISE, unix.SYS_MINCORE, unix.SYS_BRK,
		// Go's scheduler and poller
		unix.SYS_FUTEX, unix.SYS_SCHED_YIELD, unix.SYS_SCHED_GETAFFINITY, unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP,
		unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_PWAIT, unix.SYS_EVENTFD2, unix.SYS_PIPE2,
		unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_SIGALTSTACK, unix.SYS_RESTART_SYSCALL,
		unix.SYS_EXIT, unix.SYS_EXIT_GROUP,
		// the threads of C libraries need this call
		unix.SYS_SET_ROBUST_LIST, unix.SYS_RSEQ, unix.SYS_SET_TID_ADDRESS, unix.SYS_MEMBARRIER,
		// time, randomness and identity
		unix.SYS_CLOCK_GETTIME, unix.SYS_CLOCK_GETRES, unix.SYS_GETTIMEOFDAY, unix.SYS_GETRANDOM, unix.SYS_UNAME,
		unix.SYS_GETPID, unix.SYS_GETPPID, unix.SYS_GETTID, unix.SYS_GETUID, unix.SYS_GETEUID, unix.SYS_GETGID, unix.SYS_GETEGID, unix.SYS_GETCWD,
	}, architectureCalls...)
	if may.memoryFiles {
		allowed = append(allowed, unix.SYS_FTRUNCATE)
	}
	if may.open {
		allowed = append(allowed, callFstatat, unix.SYS_GETDENTS64, unix.SYS_READLINKAT)
	}
	if may.open && may.write {
		allowed = append(allowed, unix.SYS_OPENAT, unix.SYS_MKDIRAT, unix.SYS_UNLINKAT, callRenameat, unix.SYS_RENAMEAT2, unix.SYS_FSYNC, unix.SYS_FCHMOD)
	}
	return allowed
}
