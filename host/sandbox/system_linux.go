package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// namespaceFlags contains the flags for the kinds of namespaces that are created for a worker. A
// worker has no network. A worker has no privileges even if its parent is root, because the user
// namespace of the worker maps no user ID. A worker does not have its own PID namespace. Package
// psx, which applies Landlock to all threads of a program with C code, finds the threads in /proc.
// In a PID namespace without its own /proc, psx would search for wrong thread IDs and never finish.
const namespaceFlags = unix.CLONE_NEWUSER | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS

// procAttributes returns the attributes with which to start a worker. A worker has its own session,
// so Ctrl-C in a terminal does not reach it. If a worker has a user namespace, the worker starts
// with only one capability, which allows it to change its root folder.
func procAttributes(s spawnConfig, without []string, pidfd *int) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setsid: true, PidFD: pidfd}
	if !slices.Contains(without, LayerParentDeath) {
		a.Pdeathsig = syscall.SIGKILL
	}
	if s.namespaces {
		a.Cloneflags = namespaceFlags
	}
	if s.namespaces && s.chroot {
		a.AmbientCaps = []uintptr{unix.CAP_SYS_CHROOT}
	}
	a.UseCgroupFD, a.CgroupFD = s.group.descriptor()
	return a
}

// isDenied returns true if a process did not start because the system denies namespaces.
func isDenied(err error) bool {
	for _, errno := range []syscall.Errno{unix.EPERM, unix.EACCES, unix.EINVAL, unix.ENOSPC, unix.ENOSYS, unix.EUSERS} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}

// self returns the path of the current program. The path stays valid if the program's file is
// replaced.
func self() string { return "/proc/self/exe" }

// brokenPipe reports whether a write failed because the reader has exited.
func brokenPipe(err error) bool { return errors.Is(err, unix.EPIPE) }

// wasSIGKILLed reports whether SIGKILL ended a process. The kernel sends SIGKILL if the machine
// runs out of memory.
func wasSIGKILLed(state *os.ProcessState) bool {
	status, ok := state.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == unix.SIGKILL
}

// blockingPipe returns a pipe that does not use Go's poller. A thread that waits in read(2) wakes
// twice as fast as a goroutine that waits for the poller.
func blockingPipe() (r, w *os.File, err error) {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return nil, nil, os.NewSyscallError("pipe2", err)
	}
	return os.NewFile(uintptr(ends[0]), "from"), os.NewFile(uintptr(ends[1]), "to"), nil
}

// cpuTime returns the processor time of a process. cpuTime reads the clock of
// clock_getcpuclockid(3).
func cpuTime(pid int) time.Duration {
	const ofProcess = 2 // CPUCLOCK_SCHED
	var ts unix.Timespec
	if unix.ClockGettime(int32(^pid<<3|ofProcess), &ts) != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}

// memorySlack is the memory that a worker needs in addition to the guest's memory. memorySlack
// covers the stacks of threads and the reserves of the garbage collector.
const memorySlack = 24 << 20

// groupSlack is the additional memory of a control group. groupSlack covers the worker's kernel
// memory and the files that the worker has read.
const groupSlack = 64 << 20

// limit limits the memory that the worker can use in addition to its baseline. The kernel counts
// private writable memory (RLIMIT_DATA in getrlimit(2)). Private writable memory consists of Go's
// heap and the WebAssembly memories.
func (w *worker) limit(bytes int64) error {
	limit := min(w.baseline+uint64(bytes)+uint64(bytes)/4+memorySlack, w.maxMemory)
	if limit == w.memoryLimit {
		return nil
	}
	if err := w.group.limit(w.residentBaseline + limit - min(limit, w.baseline) + groupSlack); err != nil {
		return err
	}
	if !w.report.On(LayerMemory) {
		w.memoryLimit = limit
		return nil
	}
	err := unix.Prlimit(w.process.Pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: limit, Max: w.maxMemory}, nil)
	if err != nil {
		return fmt.Errorf("set memory limit of worker: %w", err)
	}
	w.memoryLimit = limit
	return nil
}

// measure sets the baseline to the current memory of the worker.
func (w *worker) measure() {
	if private, resident := w.memoryNow(); private > 0 {
		w.baseline, w.residentBaseline = private, resident
	}
}

// overMemoryLimit reports whether the worker's private or resident memory exceeds the limit.
// Resident memory includes shared mappings.
func (w *worker) overMemoryLimit() bool {
	if !w.report.On(LayerMemory) || w.memoryLimit == 0 {
		return false // no limit is set yet, or the layer is off
	}
	private, resident := w.memoryNow()
	return private > w.memoryLimit || resident > w.residentBaseline+(w.memoryLimit-min(w.memoryLimit, w.baseline))
}

// threads returns the number of threads of the worker, or 0 if the number is unknown. The number of
// threads is derived from the link count of /proc/PID/task.
func (w *worker) threads() int {
	if !w.report.On(LayerLimits) {
		return 0
	}
	if w.tasks == nil {
		folder, err := os.Open("/proc/" + strconv.Itoa(w.process.Pid) + "/task")
		if err != nil {
			return 0
		}
		w.tasks = folder
	}
	var stat unix.Stat_t
	if err := unix.Fstat(int(w.tasks.Fd()), &stat); err != nil { // reading fails if the process has exited
		return 0
	}
	const foldersOwn = 2
	return max(0, int(stat.Nlink)-foldersOwn)
}

// memoryNow returns two sizes: the size of the memory that RLIMIT_DATA counts, and the size of the
// resident memory. If memoryNow cannot read the sizes of the worker, it returns 0 for both sizes.
func (w *worker) memoryNow() (private, resident uint64) {
	if w.statm == nil {
		file, err := os.Open("/proc/" + strconv.Itoa(w.process.Pid) + "/statm")
		if err != nil {
			return 0, 0
		}
		w.statm = file
	}
	var text [128]byte
	n, _ := w.statm.ReadAt(text[:], 0) // the file is empty if the process has exited
	// The second and the sixth number in the file, in pages; see proc_pid_statm(5).
	const residentField, dataField = 1, 5
	at := 0
	for number := range bytes.FieldsSeq(text[:n]) {
		pages, _ := strconv.ParseUint(string(number), 10, 64)
		switch at {
		case residentField:
			resident = pages * uint64(os.Getpagesize())
		case dataField:
			return pages * uint64(os.Getpagesize()), resident
		}
		at++
	}
	return 0, 0
}

// parentLayers returns the layers that the parent applies to a new worker.
func parentLayers(w *worker, s spawnConfig) []Layer {
	namespaceErr := s.namespaceErr
	if namespaceErr != nil && namespaceErr != errDisabled {
		namespaceErr = fmt.Errorf("the system denies user namespaces to this process: %w", namespaceErr)
	}
	var memory, cpu error
	var max unix.Rlimit
	if err := unix.Prlimit(w.process.Pid, unix.RLIMIT_DATA, nil, &max); err != nil {
		memory = fmt.Errorf("prlimit: %w", err)
	} else if w.measure(); w.baseline == 0 {
		memory = errors.New("/proc does not report the memory use of a worker")
	}
	w.maxMemory = max.Max
	if cpuTime(w.process.Pid) == 0 {
		cpu = errors.New("cannot read the clock of another process")
	}
	return []Layer{
		newLayer(LayerCgroup, s.groupErr, "the kernel counts all memory and threads of a worker"+s.group.detail()),
		newLayer(LayerProcess, nil, "each guest runs in a separate process, killed at the deadline"),
		newLayer(LayerParentDeath, nil, "the kernel kills a worker whose parent exits"),
		newLayer(LayerNamespaces, namespaceErr, "no network and no privileges: user, network, ipc and uts namespaces"),
		newLayer(LayerMemory, memory, "the kernel denies memory beyond the limit of the run (RLIMIT_DATA)"),
		newLayer(LayerCPU, cpu, "the parent measures and limits processor time"),
	}
}
