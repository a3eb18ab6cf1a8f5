package sandbox

import (
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// pipe is the end of the wire that belongs to the parent. A read ends when the worker process
// exits. The read ends even if a child process of a guest still has the pipes open.
type pipe struct {
	in, out int
	pidfd   int // the pidfd of the process; -1 if the system has no pidfds
	ended   int // the number of bytes that were read after the exit of the process
}

// newPipe returns the parent's end of two pipes. One pipe leads to the process, and the other pipe
// comes from the process.
func newPipe(in, out *os.File, pidfd int) (*pipe, error) {
	l := &pipe{in: int(in.Fd()), out: int(out.Fd()), pidfd: pidfd}
	return l, os.NewSyscallError("fcntl", unix.SetNonblock(l.out, true))
}

// pipeBytes is the capacity of a pipe. After the process has exited, the number of unread bytes in
// the pipe is at most pipeBytes.
const pipeBytes = 64 << 10

// Read waits in poll(2), which can also wait for the exit of the process. poll(2) wakes a thread as
// fast as read(2).
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

// Write writes all of b to the pipe. If the pipe is full, Write blocks.
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

// empty reports whether the parent has read all data that the worker has written.
func (l *pipe) empty() bool {
	fds := [...]unix.PollFd{{Fd: int32(l.in), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(fds[:], 0)
		if err == unix.EINTR { // Go's runtime can send signals to its threads at any time
			continue
		}
		return n == 0 && err == nil
	}
}

// wait waits until fd is ready or the process has exited.
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

// killAll kills a process and all processes of its process group.
func killAll(p *os.Process) {
	_ = unix.Kill(-p.Pid, unix.SIGKILL) // the group can contain processes of a guest
	_ = p.Kill()
}

// closeInherited closes descriptors that this process has inherited because they are not
// close-on-exec. closeInherited does not close the standard streams or the descriptors of Go's
// runtime.
func closeInherited() {
	const firstOther = 3
	names, _ := os.ReadDir("/proc/self/fd") // if /proc is missing, the descriptors cannot be listed
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
