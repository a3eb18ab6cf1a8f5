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

// Compacted is the result of Compact.
type Compacted struct {
	// Before and After are the sizes of the file.
	Before int64 `json:"bytes_before"`
	After  int64 `json:"bytes_after"`
}

// Compact puts a copy of the database at path in its place, which has nothing of what was removed, and is as small as
// what it holds allows. No backend may have the file open, or Compact fails with abi.Unavailable; whoever opens it
// meanwhile waits, as long as their LockTimeout is. The copy is made beside the file, and is complete and on the disk
// before it takes the name: whatever happens, one of both is there whole. Owner and mode stay.
func Compact(ctx context.Context, path string) (Compacted, error) {
	c, err := compact(ctx, path)
	if err != nil {
		return c, fmt.Errorf("compact database %s: %w", path, err)
	}
	return c, nil
}

func compact(ctx context.Context, path string) (done Compacted, err error) {
	target, err := filepath.EvalSymlinks(path) // a link stays one
	if err != nil {
		return done, err
	}
	if _, err := os.Stat(target); errors.Is(err, fs.ErrNotExist) { // which open would make
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
		return giveTo(copied, before)
	})
	return done, err
}
