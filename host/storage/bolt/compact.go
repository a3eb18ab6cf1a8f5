package bolt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Compacted contains the result of Compact.
type Compacted struct {
	// Before and After are the sizes of the file in bytes, before and after the call to Compact.
	Before int64 `json:"bytes_before"`
	After  int64 `json:"bytes_after"`
}

// Compact replaces the database at path with a copy. The copy contains no removed data and is as
// small as its records allow. Compact keeps the owner and the mode of the file.
//
// If a backend has the file open, Compact fails with abi.Unavailable. A call to Open during Compact
// waits up to Options.LockTimeout.
//
// Compact writes the copy to the directory of the database. Compact renames the copy after the copy
// is complete and synced to the disk. After a crash, path is therefore either the old database or
// the complete copy.
func Compact(ctx context.Context, path string) (Compacted, error) {
	c, err := compact(ctx, path)
	if err != nil {
		return c, fmt.Errorf("compact database %s: %w", path, err)
	}
	return c, nil
}

func compact(ctx context.Context, path string) (done Compacted, err error) {
	target, err := filepath.EvalSymlinks(path) // the copy must replace the file, not a symbolic link
	if err != nil {
		return done, err
	}
	if _, err := os.Stat(target); errors.Is(err, fs.ErrNotExist) { // open would create it
		return done, err
	}
	b, err := open(target, Options{LockTimeout: time.Second, MinFree: -1})
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	before, err := b.fd.Stat()
	if err != nil {
		return done, err
	}
	done.Before = before.Size()
	err = b.copyOver(ctx, target, tempPrefix(b.fd.Name()), func(copied *os.File) error {
		info, err := copied.Stat()
		if err != nil {
			return err
		}
		done.After = info.Size()
		if err := copied.Chmod(before.Mode().Perm()); err != nil {
			return err
		}
		return copyOwner(copied, before)
	})
	return done, err
}
