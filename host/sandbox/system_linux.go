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

// isolation are the namespaces of a worker: it has no network, and no privileges even where its parent is root, for none
// of its user ids is mapped. A pid namespace is not among them: without a /proc of its own, what puts Landlock on all
// threads of a program with C in it (package psx) looks for them under the wrong numbers, for ever.
const namespaceFlags = unix.CLONE_NEWUSER | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS

// attributes are how a worker is started: in a session of its own, so that no Ctrl-C at a terminal reaches it.
// In its user namespace it has, for a start, the one capability that changing its root takes.
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

// notAllowed reports whether a process did not start because the system gives no namespaces.
func isDenied(err error) bool {
	for _, errno := range []syscall.Errno{unix.EPERM, unix.EACCES, unix.EINVAL, unix.ENOSPC, unix.ENOSYS, unix.EUSERS} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}

// self is the program that is running, also where its file was replaced meanwhile.
func self() string { return "/proc/self/exe" }

// brokenPipe reports whether a write failed because nobody reads any more.
func brokenPipe(err error) bool { return errors.Is(err, unix.EPIPE) }

// wasKilled reports whether a process that we did not kill was: by the kernel, when memory was short.
func wasSIGKILLed(state *os.ProcessState) bool {
	status, ok := state.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == unix.SIGKILL
}

// blockingPipe makes a pipe that Go's poller knows nothing of: a thread that waits in read(2) is woken in half the time
// that a goroutine takes which waits for the poller.
func blockingPipe() (r, w *os.File, err error) {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return nil, nil, os.NewSyscallError("pipe2", err)
	}
	return os.NewFile(uintptr(ends[0]), "from"), os.NewFile(uintptr(ends[1]), "to"), nil
}

// cpuTime is the processor time that a process has used, by the clock that clock_getcpuclockid(3) names.
func cpuTime(pid int) time.Duration {
	const ofProcess = 2 // CPUCLOCK_SCHED
	var ts unix.Timespec
	if unix.ClockGettime(int32(^pid<<3|ofProcess), &ts) != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}

// slack is what a worker needs beside its guest's memory: stacks of threads, what the garbage collector keeps.
const memorySlack = 24 << 20

// groupSlack is what a group may have beside: what the kernel itself keeps for a worker, and files that it has read.
const groupSlack = 64 << 20

// limit bounds the memory that the worker may have beyond what it has without a guest. The kernel counts what is
// private and writable (RLIMIT_DATA in getrlimit(2)), which is the heap of Go and the memories of WebAssembly.
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
		return fmt.Errorf("bound the memory of a worker: %w", err)
	}
	w.memoryLimit = limit
	return nil
}

// measure takes what the worker has for its baseline.
func (w *worker) measure() {
	if private, resident := w.memoryNow(); private > 0 {
		w.baseline, w.residentBaseline = private, resident
	}
}

// overData reports whether the worker has more memory than its limit: private memory, or any that is there, such as what it
// shares with nobody.
func (w *worker) overMemoryLimit() bool {
	if !w.report.On(LayerMemory) || w.memoryLimit == 0 {
		return false // there is no limit yet, or none is wanted
	}
	private, resident := w.memoryNow()
	return private > w.memoryLimit || resident > w.residentBaseline+(w.memoryLimit-min(w.memoryLimit, w.baseline))
}

// threads is how many threads the worker has, which /proc counts among the links of a folder; 0 where that cannot be read.
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
	if err := unix.Fstat(int(w.tasks.Fd()), &stat); err != nil { // of a process that has ended there is nothing to read
		return 0
	}
	const foldersOwn = 2
	return max(0, int(stat.Nlink)-foldersOwn)
}

// memoryNow is the memory of the worker that RLIMIT_DATA counts, and what of all of its memory is resident; 0 where that
// cannot be read.
func (w *worker) memoryNow() (private, resident uint64) {
	if w.statm == nil {
		file, err := os.Open("/proc/" + strconv.Itoa(w.process.Pid) + "/statm")
		if err != nil {
			return 0, 0
		}
		w.statm = file
	}
	var text [128]byte
	n, _ := w.statm.ReadAt(text[:], 0) // of a process that has ended there is nothing to read
	// The second and the sixth number of proc_pid_statm(5), in pages.
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

// parentLayers are what the parent does for the wall of a new worker.
func parentLayers(w *worker, s spawnConfig) []Layer {
	namespaceErr := s.namespaceErr
	if namespaceErr != nil && namespaceErr != errDisabled {
		namespaceErr = fmt.Errorf("the system gives no user namespaces to this process: %w", namespaceErr)
	}
	var memory, cpu error
	var max unix.Rlimit
	if err := unix.Prlimit(w.process.Pid, unix.RLIMIT_DATA, nil, &max); err != nil {
		memory = fmt.Errorf("prlimit: %w", err)
	} else if w.measure(); w.baseline == 0 {
		memory = errors.New("/proc does not tell how much memory a worker has")
	}
	w.maxMemory = max.Max
	if cpuTime(w.process.Pid) == 0 {
		cpu = errors.New("the clock of another process cannot be read")
	}
	return []Layer{
		newLayer(LayerCgroup, s.groupErr, "the kernel counts all memory and all threads, of the guest and for it"+s.group.detail()),
		newLayer(LayerProcess, nil, "a guest runs in a process of its own, which is killed when its time is over"),
		newLayer(LayerParentDeath, nil, "the kernel kills a worker whose parent ends"),
		newLayer(LayerNamespaces, namespaceErr, "no network and no privileges: user, network, ipc and uts namespaces"),
		newLayer(LayerMemory, memory, "the kernel refuses memory beyond the run's (RLIMIT_DATA)"),
		newLayer(LayerCPU, cpu, "processor time is read and bounded from outside"),
	}
}
