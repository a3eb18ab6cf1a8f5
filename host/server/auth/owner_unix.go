//go:build unix

package auth

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// sameOwner changes the owner of a file to the owner of another file. Without a change of the
// owner, a service could not access its key file after root has edited the file.
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
