package bolt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Copy is a consistent copy of a database, in the format of a database file. A Copy can be read
// only once and is not safe for concurrent use. Close removes it.
type Copy struct {
	file *os.File
	size int64
	end  func() error
}

// Read implements io.Reader.
func (c *Copy) Read(p []byte) (int, error) { return c.file.Read(p) }

// Size returns the size of the copy in bytes.
func (c *Copy) Size() int64 { return c.size }

// Close implements io.Closer.
func (c *Copy) Close() error { return c.end() }

// Copy copies the database to an unnamed file in the directory of the database. The disk that
// contains the directory needs enough space for the copy. The copy contains no removed data. If
// many records were removed, the copy is smaller than the database file.
//
// The backend can be used during the copy. Until the copy is complete, pages that become free are
// not reused. The file therefore grows by the amount of data that is written during the copy.
func (b *Backend) Copy(ctx context.Context) (c *Copy, err error) {
	temp, err := os.CreateTemp(filepath.Dir(b.fd.Name()), tempPrefix(b.fd.Name())+"*")
	if err != nil {
		return nil, fmt.Errorf("back up database: %w", full(err))
	}
	c = &Copy{file: temp}
	c.end = func() error { return errors.Join(temp.Close(), remove(temp.Name())) }
	err = b.copyTo(ctx, temp)
	if err == nil {
		var info os.FileInfo
		if info, err = temp.Stat(); err == nil {
			c.size = info.Size()
			_, err = temp.Seek(0, io.SeekStart)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("back up database: %w", errors.Join(err, c.end()))
	}
	// If the system can remove an open file, no file remains even after the process is killed.
	if os.Remove(temp.Name()) == nil {
		c.end = temp.Close
	}
	return c, nil
}

func remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// tempPrefix returns the name prefix of unfinished copies of the database.
func tempPrefix(path string) string { return "." + filepath.Base(path) + ".copy-" }

// removeTemps removes the unfinished copies that a killed process has left. The caller must have
// locked the database, which prevents other processes from making copies.
func removeTemps(path string) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), tempPrefix(path)) && e.Type().IsRegular() {
			_ = os.Remove(filepath.Join(filepath.Dir(path), e.Name())) // the next Open tries again
		}
	}
}

// Backup writes a copy of the database to w and returns the number of bytes; see Copy. A slow w
// does not delay other operations.
func (b *Backend) Backup(ctx context.Context, w io.Writer) (int64, error) {
	c, err := b.Copy(ctx)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(contextWriter{ctx, w}, c)
	if err := errors.Join(err, c.Close()); err != nil {
		return n, fmt.Errorf("back up database: %w", err)
	}
	return n, nil
}

// BackupFile writes a copy of the database to path; see Copy. The disk that contains the path needs
// enough space for the copy. An existing file at the path is replaced after the copy is complete
// and synced to the disk.
func (b *Backend) BackupFile(ctx context.Context, path string) error {
	if b.isAt(path) {
		return fmt.Errorf("back up database to %s: the destination is the database itself", path)
	}
	if err := b.copyOver(ctx, path, "."+filepath.Base(path)+".new-", func(*os.File) error { return nil }); err != nil {
		return fmt.Errorf("back up database: %w", err)
	}
	return nil
}

// copyOver copies the database to a new file, and passes the new file to the function "finish". If
// "finish" returns nil, the new file replaces the file at path.
func (b *Backend) copyOver(ctx context.Context, path, prefix string, finish func(copied *os.File) error) error {
	dir := filepath.Dir(path)
	temp, err := os.CreateTemp(dir, prefix+"*")
	if err != nil {
		return full(err)
	}
	defer os.Remove(temp.Name())
	err = b.copyTo(ctx, temp)
	if err == nil {
		err = finish(temp)
	}
	if err == nil {
		err = full(temp.Sync())
	}
	if err := errors.Join(err, temp.Close()); err != nil {
		return err
	}
	if err := os.Rename(temp.Name(), path); err != nil {
		return err
	}
	return syncDir(dir)
}

// contextWriter is a writer that returns an error after its context has ended. The error stops a
// copy.
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
