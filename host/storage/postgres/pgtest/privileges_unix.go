//go:build unix

package pgtest

import (
	"errors"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// dropPrivileges makes cmd run in a separate process group. PostgreSQL refuses to run as root. If
// this process runs as root, cmd therefore runs as another user, and that user becomes the owner of
// the directory.
func dropPrivileges(cmd *exec.Cmd, folder string) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if os.Getuid() != 0 {
		return nil
	}
	other, err := user.Lookup("postgres")
	if err != nil {
		other, err = user.Lookup("nobody")
	}
	if err != nil {
		return err
	}
	uid, err1 := strconv.ParseUint(other.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(other.Gid, 10, 32)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return os.Chown(folder, int(uid), int(gid))
}
