package bolt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/storage"
)

// Options configures Open. The zero value of a field and a nil *Options select the defaults.
type Options struct {
	// LockTimeout is the maximum time for which Open waits until another process closes the file.
	// Default: 1 s.
	LockTimeout time.Duration
	// UnsafeNoSync disables syncing to the disk. Without syncing, a crash of the machine can lose
	// committed updates or damage the whole file. Use UnsafeNoSync only for tests and benchmarks.
	UnsafeNoSync bool
	// MinFree is the number of free bytes below which Space returns an error. A negative value
	// disables the check. The default is 256 MiB. On a disk with less than 1 GiB, the default is a
	// quarter of the disk.
	MinFree int64
}

// maxChecked is the maximum size of a file whose pages Open checks completely. In a larger file,
// Open checks only the header and the size. However, if a larger file was not closed, Open checks
// all pages; see freelist. The function Check checks all pages of files of any size.
const maxChecked = 1 << 30

// Open opens the database at path. If the file does not exist, Open creates the file and its
// directory. Open returns an error if the file is damaged, truncated or empty, has another format,
// or is not a database of this package. The error contains the reason. If another process has the
// file open, Open fails with abi.Unavailable.
func Open(path string, opts *Options) (*Backend, error) {
	if opts == nil {
		opts = &Options{}
	}
	o := *opts
	if o.LockTimeout < 0 {
		return nil, fmt.Errorf("open database %s: LockTimeout %v is negative", path, o.LockTimeout)
	}
	if o.LockTimeout == 0 {
		o.LockTimeout = time.Second
	}
	b, err := open(path, o)
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, err)
	}
	return b, nil
}

func open(path string, o Options) (*Backend, error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		if err := create(path); err != nil {
			return nil, err
		}
	}
	f, err := openVerified(path, o)
	if err != nil {
		return nil, err
	}
	removeTemps(path)
	return newBackend(f, o), nil
}

// openVerified checks that bbolt can open a file safely, and then opens the file.
func openVerified(path string, o Options) (file, error) {
	for {
		if err := verify(path, o.LockTimeout); err != nil {
			return file{}, err
		}
		f, err := openReserved(path, bbolt.Options{Timeout: o.LockTimeout, NoSync: o.UnsafeNoSync, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType})
		if err != nil {
			return file{}, err
		}
		// If another process replaced the file during the wait for the lock, the open file is the
		// old file, which has no name anymore.
		if f.isAt(path) {
			return f, nil
		}
		if err := f.db.Close(); err != nil {
			return file{}, err
		}
	}
}

// isAt reports whether the open file is the file at path.
func (f file) isAt(path string) bool {
	there, err := os.Stat(path)
	if err != nil {
		return false
	}
	own, err := f.fd.Stat()
	return err == nil && os.SameFile(there, own)
}

// create writes a new database to a temporary file and then renames the temporary file. Therefore a
// crash cannot leave an incomplete database at the path. If another process creates a file at the
// path at the same time, create does not replace the other file.
func create(path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(dir, "."+filepath.Base(path)+".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	if err := temp.Close(); err != nil {
		return err
	}
	f, err := openFile(temp.Name(), bbolt.Options{})
	if err != nil {
		return err
	}
	err = f.db.Update(func(tx *bbolt.Tx) error { return initialise(tx, time.Now()) })
	if err := errors.Join(err, f.db.Close()); err != nil {
		return err
	}
	err = os.Link(temp.Name(), path)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		err = os.Rename(temp.Name(), path) // the file system does not support hard links
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(dir)
}

// verify returns an error if the file is not a database of this package, or if bbolt cannot open
// the file safely.
func verify(path string, timeout time.Duration) error {
	s, err := openSnapshot(path, timeout)
	if err != nil {
		return err
	}
	defer s.close()
	if s.size <= maxChecked || s.header.freelist == noFreelist {
		if _, err := checkPages(s.raw, s.header); err != nil {
			return explain(err)
		}
	}
	return explain(s.view(checkFormat))
}

// snapshot is a file that is open for reading and locked against writers.
type snapshot struct {
	file
	raw     *os.File // the open file, for reads without bbolt
	size    int64
	header  header
	damaged bool // true if one of the two header pages is damaged
}

func openSnapshot(path string, timeout time.Duration) (s *snapshot, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("the path is not a regular file; choose another file")
	}
	raw, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			raw.Close()
		}
	}()
	// The previous checks do not require the lock, because a file that is not a database cannot be
	// in use. The following checks require the lock.
	if _, _, err := readHeader(raw, info.Size()); errors.Is(err, errForeign) || info.Size() == 0 {
		return nil, err
	}
	f, openErr := openFile(path, bbolt.Options{Timeout: timeout, ReadOnly: true})
	if errors.Is(openErr, abi.Unavailable) {
		return nil, openErr
	}
	s = &snapshot{file: f, raw: raw}
	if info, err = raw.Stat(); err == nil {
		s.size = info.Size()
		s.header, s.damaged, err = readHeader(raw, s.size)
	}
	if err == nil {
		err = openErr // the checks of this package found no problem
	}
	if err != nil && openErr == nil {
		f.db.Close()
	}
	if err != nil {
		return nil, explain(err)
	}
	return s, nil
}

// explain adds a hint to an error that reports damage.
func explain(err error) error {
	if errors.Is(err, storage.ErrCorrupt) {
		return fmt.Errorf("%w: restore the file from a backup", err)
	}
	return err
}

func (s *snapshot) close() {
	s.raw.Close()
	s.db.Close()
}

// file is a database file that bbolt has opened.
type file struct {
	db *bbolt.DB
	fd *os.File // bbolt's file descriptor
}

func openFile(path string, o bbolt.Options) (f file, err error) {
	o.OpenFile = func(name string, flag int, mode os.FileMode) (*os.File, error) {
		fd, err := os.OpenFile(name, flag&^os.O_CREATE, mode)
		f.fd = fd
		return fd, err
	}
	o.NoStatistics = true // with statistics, each transaction would need an additional lock
	err = guard(func() error {
		f.db, err = bbolt.Open(path, 0o600, &o)
		return err
	})
	if err != nil && f.fd != nil {
		unlock(f.fd) // without this call, the file would stay open and locked after a panic
		f.fd.Close()
	}
	if errors.Is(err, bbolterrors.ErrTimeout) {
		return f, abi.Faultf(abi.Unavailable, "the database is in use by another process, or this process opened it twice").
			WithHint("close the database in the other process, or choose another file")
	}
	return f, err
}

func (f file) view(fn func(tx *bbolt.Tx) error) error {
	return guard(func() error { return f.db.View(fn) })
}

// syncDir syncs a directory, which makes new names of files durable.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // Windows cannot sync directories
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
