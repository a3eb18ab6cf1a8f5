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

// Options configures Open. The zero value and nil mean the defaults.
type Options struct {
	// LockTimeout is how long Open waits for another process to let go of the file. Default: 1 s.
	LockTimeout time.Duration
	// UnsafeNoSync does not wait for the disk: a crash of the machine may then lose what Update reported as
	// done, or the whole file. For tests and benchmarks.
	UnsafeNoSync bool
	// MinFree is how many bytes have to be free for Space to report that there is room; negative for no such floor.
	// Default: 256 MiB, or a quarter of the disk if that is less.
	MinFree int64
}

// maxChecked is the size up to which Open checks all pages of a file, which is then one pass over it. Of a
// larger file it checks only the header and the size, unless the file was not closed: see freelist. Check has no such
// limit.
const maxChecked = 1 << 30

// Open opens the database at path, or creates it, and its directory, where there is none. A file that is
// damaged, truncated, empty, of another format or not a database of this package is an error that says so;
// where another process has it open, the error is abi.Unavailable.
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

// openVerified opens a file that bbolt can open safely.
func openVerified(path string, o Options) (file, error) {
	for {
		if err := verify(path, o.LockTimeout); err != nil {
			return file{}, err
		}
		f, err := openReserved(path, bbolt.Options{Timeout: o.LockTimeout, NoSync: o.UnsafeNoSync, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType})
		if err != nil {
			return file{}, err
		}
		// Who waited for the lock while the file was compacted has the one from before, which has no name any more.
		if f.isAt(path) {
			return f, nil
		}
		if err := f.db.Close(); err != nil {
			return file{}, err
		}
	}
}

// isAt reports whether path is the file that is open.
func (f file) isAt(path string) bool {
	there, err := os.Stat(path)
	if err != nil {
		return false
	}
	own, err := f.fd.Stat()
	return err == nil && os.SameFile(there, own)
}

// create makes a new database in a temporary file and then gives it its name, so that a crash leaves no half
// one there. A file that got the name meanwhile is left alone.
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
		err = os.Rename(temp.Name(), path) // a file system without hard links
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(dir)
}

// verify returns an error unless bbolt can open the file safely and it is one of ours.
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

// snapshot is a file that is open for reading, and locked so that nobody writes to it.
type snapshot struct {
	file
	raw     *os.File // the same file, for reading it without bbolt
	size    int64
	header  header
	damaged bool // one of the two header pages is
}

func openSnapshot(path string, timeout time.Duration) (s *snapshot, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file: choose another one")
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
	// What is no database cannot be in use. Of one that is, nothing but this is sure before it is locked.
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
		err = openErr // our words for what is wrong, before bbolt's
	}
	if err != nil && openErr == nil {
		f.db.Close()
	}
	if err != nil {
		return nil, explain(err)
	}
	return s, nil
}

// explain says what can be done about damage.
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

// file is a database as bbolt has it open.
type file struct {
	db *bbolt.DB
	fd *os.File // bbolt's own
}

func openFile(path string, o bbolt.Options) (f file, err error) {
	o.OpenFile = func(name string, flag int, mode os.FileMode) (*os.File, error) {
		fd, err := os.OpenFile(name, flag&^os.O_CREATE, mode)
		f.fd = fd
		return fd, err
	}
	o.NoStatistics = true // which costs every transaction a lock
	err = guard(func() error {
		f.db, err = bbolt.Open(path, 0o600, &o)
		return err
	})
	if err != nil && f.fd != nil {
		unlock(f.fd) // which a panic leaves open, and locked
		f.fd.Close()
	}
	if errors.Is(err, bbolterrors.ErrTimeout) {
		return f, abi.Faultf(abi.Unavailable, "the database is in use by another process, or opened twice by this one").
			WithHint("close it there, or choose another file")
	}
	return f, err
}

func (f file) view(fn func(tx *bbolt.Tx) error) error {
	return guard(func() error { return f.db.View(fn) })
}

// syncDir makes a new name in a directory durable.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // where a directory cannot be opened for that
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
