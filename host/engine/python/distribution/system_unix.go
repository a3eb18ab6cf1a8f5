//go:build unix

package distribution

import (
	"io/fs"
	"os"
	"os/exec"
	"syscall"
)

// private reports whether a file or folder belongs to this user and no other user can write to it.
func private(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid() && info.Mode().Perm()&0o022 == 0
}

// killAll configures a command so that its cancellation also kills its child processes. npm is
// often a script that starts node as a child process.
func killAll(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
