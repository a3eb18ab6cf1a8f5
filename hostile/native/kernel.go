//go:build linux && (amd64 || arm64)

package native

import (
	"fmt"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

var processAttacks = []Attack{
	{Name: "process/trace_host", Mechanism: "trace the host", run: func(v victims) error { return unix.PtraceSeize(v.Host) }},
	{Name: "process/trace_neighbour", Mechanism: "trace another worker", run: func(v victims) error { return unix.PtraceSeize(v.Neighbour) }},
	{Name: "process/read_host", Mechanism: "read the memory of the host", run: func(v victims) error { return readMemory(v.Host) }},
	{Name: "process/read_neighbour", Mechanism: "read the memory of another worker", run: func(v victims) error { return readMemory(v.Neighbour) }},
	{Name: "process/memory_file", Mechanism: "read the memory of the host through /proc", run: func(v victims) error { return open("/proc/%d/mem", v.Host) }},
	{Name: "process/environment", Mechanism: "read the environment of the host", run: func(v victims) error { return open("/proc/%d/environ", v.Host) }},
	{Name: "process/command_line", Mechanism: "read the arguments of the host", run: func(v victims) error { return open("/proc/%d/cmdline", v.Host) }},
	{Name: "process/descriptors", Mechanism: "copy a descriptor of the host", run: func(v victims) error {
		fd, err := unix.PidfdOpen(v.Host, 0)
		if err == nil {
			_, err = unix.PidfdGetfd(fd, 0, 0)
		}
		return err
	}},
	{Name: "process/limits_of_host", Mechanism: "lower a limit of the host", run: func(v victims) error {
		return unix.Prlimit(v.Host, unix.RLIMIT_CORE, &unix.Rlimit{}, nil) // not needed
	}},
	{Name: "process/execute", Mechanism: "run another program", run: func(victims) error { return reach(unix.SYS_EXECVE, invalid, 0, 0) }},
	{Name: "process/fork", Mechanism: "start a process that outlives the run", run: func(victims) error {
		pid, _, errno := syscall.RawSyscall6(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0)
		if errno != 0 {
			return errno
		}
		if pid == 0 {
			for {
				_, _, _ = syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 0, 0, 0)
			}
		}
		return nil
	}},
	call("process/clone_namespace", "start a process in a user namespace with all capabilities", unix.SYS_CLONE, unix.CLONE_NEWUSER|unix.CLONE_THREAD, 0),
	call("process/clone3", "call clone3, whose flags a filter cannot see", unix.SYS_CLONE3, invalid, 8),
	call("process/affinity", "change the CPU affinity", unix.SYS_SCHED_SETAFFINITY, 0, 0, 0),
	call("process/priority", "raise the scheduling priority", unix.SYS_SCHED_SETSCHEDULER, 0, 99, invalid),
	limit("data", unix.RLIMIT_DATA), limit("addresses", unix.RLIMIT_AS), limit("threads", unix.RLIMIT_NPROC),
	limit("file_size", unix.RLIMIT_FSIZE), limit("descriptors", unix.RLIMIT_NOFILE),
}

// limit returns an attack that raises a resource limit of the attack's process.
func limit(name string, resource int) Attack {
	return Attack{Name: "limit/" + name, Mechanism: "raise a limit", run: func(victims) error {
		return unix.Setrlimit(resource, &unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY})
	}}
}

func readMemory(pid int) error {
	buffer := make([]byte, 8)
	_, err := unix.ProcessVMReadv(pid, []unix.Iovec{{Base: &buffer[0], Len: 8}}, []unix.RemoteIovec{{Base: 0, Len: 8}}, 0)
	if err == unix.EFAULT {
		return nil // the address is not mapped, but a real attack would use a mapped address
	}
	return err
}

func open(path string, pid int) error {
	_, err := os.Open(fmt.Sprintf(path, pid))
	return err
}

var kernelAttacks = []Attack{
	call("kernel/io_uring", "make system calls that bypass the filter", unix.SYS_IO_URING_SETUP, 1, invalid),
	call("kernel/userfaultfd", "suspend the kernel during a copy", unix.SYS_USERFAULTFD, invalid),
	call("kernel/keyctl", "use the keys of the user", unix.SYS_KEYCTL, 0, ^uintptr(2), 0),
	call("kernel/add_key", "allocate memory that is charged to the user", unix.SYS_ADD_KEY, invalid, invalid, 0, 0, ^uintptr(2)),
	call("kernel/bpf", "load a program into the kernel", unix.SYS_BPF, 0, invalid, 0),
	call("kernel/perf_event_open", "measure the processor events of other processes", unix.SYS_PERF_EVENT_OPEN, invalid, 0, 0, invalid, 0),
	call("kernel/setns", "enter the namespaces of other processes", unix.SYS_SETNS, invalid, 0),
	call("kernel/unshare", "create namespaces", unix.SYS_UNSHARE, unix.CLONE_NEWUTS),
	call("kernel/unshare_user", "gain all capabilities in a namespace", unix.SYS_UNSHARE, unix.CLONE_NEWUSER),
	call("kernel/mount", "mount a file system", unix.SYS_MOUNT, invalid, invalid, invalid, 0, 0),
	call("kernel/fsopen", "mount a file system through descriptors", unix.SYS_FSOPEN, invalid, 0),
	call("kernel/open_tree", "copy a mount", unix.SYS_OPEN_TREE, invalid, invalid, 0),
	call("kernel/pivot_root", "change the root", unix.SYS_PIVOT_ROOT, invalid, invalid),
	{Name: "kernel/chroot", Mechanism: "leave the root by changing the root twice", run: func(victims) error { return unix.Chroot(".") }},
	call("kernel/dumpable", "allow other processes to trace the process", unix.SYS_PRCTL, unix.PR_SET_DUMPABLE, 1),
	call("kernel/filter", "install another filter", unix.SYS_SECCOMP, 0, 1, 0),
	call("kernel/landlock", "install other Landlock rules", unix.SYS_LANDLOCK_RESTRICT_SELF, invalid, 0),
	call("kernel/capabilities", "set capabilities", unix.SYS_CAPSET, invalid, invalid),
	{Name: "kernel/root", Mechanism: "become root", run: func(victims) error { return reachFor(unix.SYS_SETRESUID, 0, 0, 0) }},
	call("kernel/personality", "disable address randomization", unix.SYS_PERSONALITY, 0x0040000),
	call("kernel/module", "load a kernel module", unix.SYS_FINIT_MODULE, invalid, invalid, 0),
	call("kernel/log", "read kernel addresses from the log", unix.SYS_SYSLOG, 10, 0, 0),
	call("kernel/clock", "change the system time", unix.SYS_CLOCK_SETTIME, invalid, invalid),
	call("kernel/ioctl", "use devices and terminals", unix.SYS_IOCTL, 0, 0x5412, invalid),
	call("kernel/quota", "change disk quotas", unix.SYS_QUOTACTL, invalid, invalid, 0, invalid),
	call("kernel/swap", "turn off a swap file", unix.SYS_SWAPOFF, invalid),
	call("kernel/message_queue", "create shared memory that outlives the process", unix.SYS_MSGGET, 0, unix.IPC_CREAT|0o600),
	call("kernel/semaphore", "create semaphores that outlive the process", unix.SYS_SEMGET, 0, 1, unix.IPC_CREAT|0o600),
	call("kernel/vmsplice", "move pages into a pipe", unix.SYS_VMSPLICE, invalid, invalid, 1, 0),
	call("kernel/fanotify", "watch the file accesses of other processes", unix.SYS_FANOTIFY_INIT, invalid, 0),
}

// socketAttacks returns attacks that create sockets of each family and use some of them.
func socketAttacks() (all []Attack) {
	for name, family := range map[string]uintptr{
		"inet": unix.AF_INET, "inet6": unix.AF_INET6, "unix": unix.AF_UNIX, "netlink": unix.AF_NETLINK, "packet": unix.AF_PACKET,
		"alg": unix.AF_ALG, "vsock": unix.AF_VSOCK, "bluetooth": unix.AF_BLUETOOTH, "xdp": unix.AF_XDP, "tipc": unix.AF_TIPC,
	} {
		all = append(all, call("socket/"+name, "create a socket of this family", unix.SYS_SOCKET, family, unix.SOCK_STREAM, 0))
	}
	return append(all,
		call("socket/pair", "pass descriptors to another process", unix.SYS_SOCKETPAIR, unix.AF_UNIX, unix.SOCK_STREAM, 0, invalid),
		Attack{Name: "socket/abstract", Mechanism: "connect to a socket without a file", run: func(v victims) error {
			conn, err := net.Dial("unix", fmt.Sprintf("@toolrun-native-%d", v.Host))
			if err == nil {
				conn.Close()
			}
			return err
		}},
		Attack{Name: "socket/loopback", Mechanism: "connect to a service of the machine", run: func(victims) error {
			conn, err := net.Dial("tcp", "127.0.0.1:1")
			if err == nil {
				conn.Close()
			}
			return err
		}},
	)
}
