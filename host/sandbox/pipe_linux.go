package sandbox

import (
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// link is the parent's end of the wire. It ends when the process of the worker does, whoever else holds the pipes: a guest
// that got past everything may have left a child behind which does.
type pipe struct {
	in, out int
	pidfd   int // -1 where the system has none
	ended   int // how many bytes were read since the process has ended
}

// newLink makes the end of pipes from a process and to it.
func newPipe(in, out *os.File, pidfd int) (*pipe, error) {
	l := &pipe{in: int(in.Fd()), out: int(out.Fd()), pidfd: pidfd}
	return l, os.NewSyscallError("fcntl", unix.SetNonblock(l.out, true))
}

// pipeBytes is how much of what a process has written before its end may still be in a pipe.
const pipeBytes = 64 << 10

// Read waits in poll(2): a thread there is woken as soon as one in read(2).
func (l *pipe) Read(b []byte) (int, error) {
	for {
		readable, ended, err := l.wait(l.in, unix.POLLIN)
		if err != nil {
			return 0, err
		}
		if ended && (!readable || l.ended >= pipeBytes) {
			return 0, io.EOF
		}
		n, err := unix.Read(l.in, b)
		if err == unix.EINTR || err == unix.EAGAIN {
			continue
		}
		if err != nil {
			return 0, os.NewSyscallError("read", err)
		}
		if n == 0 {
			return 0, io.EOF
		}
		if ended {
			l.ended += n
		}
		return n, nil
	}
}

// Write waits where the pipe is full.
func (l *pipe) Write(b []byte) (written int, err error) {
	for written < len(b) {
		n, err := unix.Write(l.out, b[written:])
		written += max(n, 0)
		if err == nil || err == unix.EINTR {
			continue
		}
		if err != unix.EAGAIN {
			return written, os.NewSyscallError("write", err)
		}
		writable, ended, err := l.wait(l.out, unix.POLLOUT)
		if err == nil && ended && !writable {
			err = os.NewSyscallError("write", syscall.EPIPE)
		}
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

// quiet reports whether the worker has said nothing that nobody has read.
func (l *pipe) empty() bool {
	fds := [...]unix.PollFd{{Fd: int32(l.in), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(fds[:], 0)
		if err == unix.EINTR { // Go interrupts its threads, even where they do not wait
			continue
		}
		return n == 0 && err == nil
	}
}

// wait waits until a pipe is ready, or the process is over.
func (l *pipe) wait(fd int, events int16) (ready, ended bool, err error) {
	fds := [...]unix.PollFd{{Fd: int32(fd), Events: events}, {Fd: int32(l.pidfd), Events: unix.POLLIN}}
	for {
		_, err := unix.Poll(fds[:], -1)
		if err == unix.EINTR {
			continue
		}
		return fds[0].Revents != 0, fds[1].Revents != 0, os.NewSyscallError("poll", err)
	}
}

func (l *pipe) close() {
	if l.pidfd >= 0 {
		_ = unix.Close(l.pidfd)
		l.pidfd = -1
	}
}

// killAll ends a process and what is in its group.
func killAll(p *os.Process) {
	_ = unix.Kill(-p.Pid, unix.SIGKILL) // the worker is the leader of a group that it may have added to
	_ = p.Kill()
}

// closeInherited closes what this process was given without being meant to: descriptors of the parent's that lack
// close-on-exec. Those that Go's runtime has opened stay.
func closeInherited() {
	const firstOther = 3
	names, _ := os.ReadDir("/proc/self/fd") // where there is none, there is nothing to go by
	for _, name := range names {
		fd := 0
		for _, digit := range name.Name() {
			fd = 10*fd + int(digit-'0')
		}
		if fd < firstOther {
			continue
		}
		switch target, _ := os.Readlink("/proc/self/fd/" + name.Name()); target {
		case "anon_inode:[eventpoll]", "anon_inode:[eventfd]", "anon_inode:[pidfd]", "":
		default:
			_ = unix.Close(fd)
		}
	}
}
