package bolt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"
)

// Backup writes a copy of the database to w, as it is at one moment, and returns the number of bytes. The
// backend stays in use meanwhile; but pages freed during a backup are kept until it ends, and an update that
// makes the file grow waits for it, so w should not be slow: see BackupFile.
func (b *Backend) Backup(ctx context.Context, w io.Writer) (int64, error) {
	var n int64
	err := b.read(func(tx *bbolt.Tx) (err error) {
		n, err = tx.WriteTo(contextWriter{ctx, w})
		return err
	})
	if err != nil && ctx.Err() != nil {
		err = ctx.Err() // which bbolt does not always wrap
	}
	if err != nil {
		return n, fmt.Errorf("back up database: %w", err)
	}
	return n, nil
}

// BackupFile writes a copy of the database to path. The copy is complete, and on the disk, before it gets
// that name; a file that had the name is replaced.
func (b *Backend) BackupFile(ctx context.Context, path string) (err error) {
	if b.isSelf(path) {
		return fmt.Errorf("back up database to %s: that is the database itself", path)
	}
	dir := filepath.Dir(path)
	temp, err := os.CreateTemp(dir, "."+filepath.Base(path)+".new-*")
	if err != nil {
		return fmt.Errorf("back up database: %w", err)
	}
	defer os.Remove(temp.Name())
	_, err = b.Backup(ctx, temp)
	if err == nil {
		err = temp.Sync()
	}
	if err := errors.Join(err, temp.Close()); err != nil {
		return err
	}
	if err := os.Rename(temp.Name(), path); err != nil {
		return fmt.Errorf("back up database: %w", err)
	}
	return syncDir(dir)
}

func (b *Backend) isSelf(path string) bool {
	there, err := os.Stat(path)
	if err != nil {
		return false
	}
	own, err := b.fd.Stat()
	return err == nil && os.SameFile(there, own)
}

// contextWriter stops a copy when its context ends.
type contextWriter struct {
	ctx context.Context
	w   io.Writer
}

func (c contextWriter) Write(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.w.Write(p)
}
