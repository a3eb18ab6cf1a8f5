//go:build unix

package bolt

import (
	"errors"
	"os"
	"syscall"
)

// copyOwner changes the owner of f to the owner of another file. If root replaces a service's file,
// copyOwner ensures that the service can open the new file.
func copyOwner(f *os.File, other os.FileInfo) error {
	own, err := f.Stat()
	if err != nil {
		return err
	}
	want, ok := other.Sys().(*syscall.Stat_t)
	have, ok2 := own.Sys().(*syscall.Stat_t)
	if !ok || !ok2 || want.Uid == have.Uid && want.Gid == have.Gid {
		return nil
	}
	return f.Chown(int(want.Uid), int(want.Gid))
}

// noMemory reports whether a mapping failed because there was not enough address space.
func noMemory(err error) bool { return errors.Is(err, syscall.ENOMEM) }
