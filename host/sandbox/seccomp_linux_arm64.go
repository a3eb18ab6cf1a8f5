package sandbox

import "golang.org/x/sys/unix"

const (
	callArchitecture = unix.AUDIT_ARCH_AARCH64
	callFstatat      = unix.SYS_FSTATAT
	callRenameat     = unix.SYS_RENAMEAT
)

// architectureCalls contains allowed calls that other architectures do not have.
var architectureCalls []uint32
