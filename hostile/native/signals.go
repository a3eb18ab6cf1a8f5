//go:build linux && (amd64 || arm64)

package native

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// dnCreate is the value of the constant DN_CREATE of fcntl(2).
const dnCreate = 4

var signalAttacks = []Attack{
	{Name: "signal/host", Mechanism: "kill the host", run: func(v victims) error { return unix.Kill(v.Host, unix.SIGKILL) }},
	{Name: "signal/thread_of_host", Mechanism: "kill the host through one of its threads", run: func(v victims) error {
		return unix.Tgkill(v.Host, v.Host, unix.SIGKILL)
	}},
	{Name: "signal/neighbour", Mechanism: "kill another worker", run: func(v victims) error { return unix.Kill(v.Neighbour, unix.SIGKILL) }},
	{Name: "signal/all_processes", Mechanism: "signal all processes of the user (with the harmless signal 0)", run: func(victims) error {
		return unix.Kill(-1, 0)
	}},
	{Name: "signal/by_descriptor", Mechanism: "kill the host through a descriptor of its process", run: func(v victims) error {
		fd, err := unix.PidfdOpen(v.Host, 0)
		if err != nil {
			return err
		}
		return unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
	}},
	{Name: "signal/queue", Mechanism: "queue a signal for the host", run: func(v victims) error {
		info := [32]int32{int32(unix.SIGKILL), 0, -1}
		return reachFor(unix.SYS_RT_SIGQUEUEINFO, uintptr(v.Host), uintptr(unix.SIGKILL), uintptr(unsafe.Pointer(&info)))
	}},
	{Name: "signal/by_pipe", Mechanism: "make the kernel kill the host when a pipe becomes readable, with F_SETOWN", run: func(v victims) error {
		return signalByPipe(v, func(fd uintptr) error {
			_, err := unix.FcntlInt(fd, unix.F_SETOWN, v.Host)
			return err
		})
	}},
	{Name: "signal/by_pipe_of_thread", Mechanism: "make the kernel kill the host when a pipe becomes readable, with F_SETOWN_EX", run: func(v victims) error {
		return signalByPipe(v, func(fd uintptr) error {
			owner := [2]int32{1, int32(v.Host)} // F_OWNER_PID
			return reachFor(unix.SYS_FCNTL, fd, unix.F_SETOWN_EX, uintptr(unsafe.Pointer(&owner)))
		})
	}},
	fcntl("fcntl/lease", "take a lease on a file, which delays other processes that open the file", unix.F_SETLEASE, unix.F_UNLCK),
	fcntl("fcntl/notify", "request signals when a folder changes", unix.F_NOTIFY, dnCreate),
	fcntl("fcntl/pipe_size", "enlarge a pipe to exhaust the pipe memory of the host's user", unix.F_SETPIPE_SZ, 1<<17),
	fcntl("fcntl/lock", "lock files of other processes", unix.F_OFD_SETLK, invalid),
	call("signal/timer", "create timers that send signals", unix.SYS_TIMER_CREATE, 0, invalid, invalid),
	call("signal/death", "outlive the host", unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, 0),
}

// signalByPipe makes the kernel send a signal when a pipe becomes readable.
func signalByPipe(_ victims, own func(fd uintptr) error) error {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return err
	}
	if err := own(uintptr(ends[0])); err != nil {
		return err
	}
	if _, err := unix.FcntlInt(uintptr(ends[0]), unix.F_SETSIG, int(unix.SIGKILL)); err != nil {
		return err
	}
	if _, err := unix.FcntlInt(uintptr(ends[0]), unix.F_SETFL, unix.O_ASYNC); err != nil {
		return err
	}
	_, err := unix.Write(ends[1], []byte{1})
	return err
}

// fcntl returns an attack that consists of one fcntl command on a pipe.
func fcntl(name, mechanism string, command, argument uintptr) Attack {
	return Attack{Name: name, Mechanism: mechanism, run: func(victims) error {
		var ends [2]int
		if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
			return err
		}
		err := reach(unix.SYS_FCNTL, uintptr(ends[0]), command, argument)
		if err == unix.ENOTDIR {
			return nil // the filter allowed the command, so the attack succeeded
		}
		return err
	}}
}

// reachFor makes a system call with valid arguments.
func reachFor(number uintptr, a, b, c uintptr) error {
	if _, _, errno := unix.Syscall(number, a, b, c); errno != 0 {
		return errno
	}
	return nil
}
