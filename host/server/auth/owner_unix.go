//go:build unix

package auth

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// sameOwner gives a file to the owner of another one, where that is somebody else: who changes a service's key file as
// root must not take it away from the service.
func sameOwner(file *os.File, as string) error {
	info, err := os.Lstat(as)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(stat.Uid) == os.Geteuid() {
		return nil
	}
	return file.Chown(int(stat.Uid), int(stat.Gid))
}
