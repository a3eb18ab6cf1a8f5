package sandbox

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
	"kernel.org/pub/linux/libs/security/libcap/psx"
)

// openRoot opens the folder that becomes the root of this process. The new root is the folder with
// compiled code. If no such folder exists, the new root is a folder that contains only the
// descriptors of this process. The folder with the descriptors belongs to the current thread.
// Landlock puts each thread into a separate Landlock domain. A child process inherits the domain of
// the thread that starts it. Therefore the caller must stay on its thread until the root has been
// changed.
func openRoot(h handshake) (int, error) {
	folder := h.mounts.folder
	if folder == "" {
		folder = "/proc/thread-self/fdinfo"
	}
	root, err := unix.Open(folder, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("open root folder: %w", err)
	}
	return root, nil
}

func closeRoot(root int) {
	if root >= 0 {
		_ = unix.Close(root)
	}
}

// changeRoot makes a folder the root of this process. changeRoot also drops the capability to
// change the root. After the call, the process cannot open any path outside of the folder. See
// chroot(2).
//
// Package psx drops capabilities on one thread after the other. To find the threads, it reads
// /proc. Therefore the root must change after this process has dropped the capability. For this
// reason, a child process changes the root. The child process shares the root with this process
// (CLONE_FS in clone(2)) and keeps the capability.
func changeRoot(root int) error {
	if root < 0 {
		return nil // the caller reports the first of the errors
	}
	if !mayChangeRoot() {
		return errors.New("this process lacks CAP_SYS_CHROOT inside and outside a user namespace")
	}
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return os.NewSyscallError("pipe2", err)
	}
	child, errno := startChroot(root, ends[0], ends[1])
	closeRoot(ends[0])
	if errno != 0 {
		closeRoot(ends[1])
		return os.NewSyscallError("clone", errno)
	}
	err := dropCapabilities()
	if err == nil {
		_, err = unix.Write(ends[1], []byte{1})
	}
	closeRoot(ends[1])
	var status unix.WaitStatus
	waited := waitFor(child, &status)
	if err == nil {
		err = waited
	}
	if err == nil && status.ExitStatus() != 0 {
		err = unix.EACCES
	}
	if err != nil {
		return fmt.Errorf("change root: %w", err)
	}
	return nil
}

// waitFor waits until a child process exits.
func waitFor(child int, status *unix.WaitStatus) error {
	for {
		if _, err := unix.Wait4(child, status, 0, nil); err != unix.EINTR {
			return err
		}
	}
}

// dot contains the path of the current folder as a C string.
var dot = [2]byte{'.', 0}

// startChroot starts a child process. The child process shares the root and the current folder with
// this process. When the child process reads a byte from the pipe, it changes the root and the
// current folder of both processes. If the pipe is closed before the child process reads a byte,
// the child process exits. The child process also shares the memory of this process, so no memory
// is copied. The child process does not use a stack.
func startChroot(root, from, to int) (pid int, errno syscall.Errno) {
	stack := uintptr(unsafe.Pointer(&chrootStack[len(chrootStack)/2]))
	r := cloneChroot(unix.CLONE_VM|unix.CLONE_FS|uintptr(syscall.SIGCHLD), stack, uintptr(root), uintptr(from), uintptr(to), uintptr(unsafe.Pointer(&dot)))
	if errno := -int(r); errno > 0 && errno < 4096 {
		return 0, syscall.Errno(errno)
	}
	return int(r), 0
}

// chrootStack is the memory to which the stack pointer of the child process points. The child
// process writes only one byte to chrootStack: the byte that it reads from the pipe.
var chrootStack [256]byte

// capabilities contains the header and the sets for capget(2) and capset(2), version 3.
type capabilities struct {
	header unix.CapUserHeader
	sets   [2]unix.CapUserData
}

// mayChangeRoot reports whether this thread has the capability CAP_SYS_CHROOT.
func mayChangeRoot() bool {
	c := capabilities{header: unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}}
	return unix.Capget(&c.header, &c.sets[0]) == nil && c.sets[0].Effective&(1<<unix.CAP_SYS_CHROOT) != 0
}

// dropCapabilities drops all capabilities of all threads.
func dropCapabilities() error {
	c := &capabilities{header: unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}}
	_, _, errno := psx.Syscall3(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&c.header)), uintptr(unsafe.Pointer(&c.sets[0])), 0)
	runtime.KeepAlive(c)
	if errno != 0 {
		return os.NewSyscallError("capset", errno)
	}
	return nil
}
