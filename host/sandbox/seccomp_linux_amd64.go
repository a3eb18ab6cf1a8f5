package sandbox

import "golang.org/x/sys/unix"

const (
	callArchitecture = unix.AUDIT_ARCH_X86_64
	callFstatat      = unix.SYS_NEWFSTATAT
	callRenameat     = unix.SYS_RENAMEAT
)

// architectureCalls contains allowed calls that other architectures do not have.
var architectureCalls = []uint32{unix.SYS_EPOLL_WAIT, unix.SYS_POLL}
