package auth

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"runtime"
	"sync"
	"time"
)

const (
	// checkEvery is the minimum interval between checks of a file. This interval is also the
	// maximum delay until a change is detected.
	checkEvery = time.Second
	// The constant settled is the minimum age of a reliable modification time. File system clocks
	// are coarse, so a file that was modified within this time can change again without a change of
	// its modification time. Therefore, a recently modified file is read again.
	settled = 2 * time.Second
	// maxFileBytes is the maximum size of a file. A key file of this size has about ten thousand keys.
	maxFileBytes = 4 << 20
)

// watchedFile is a file that is reloaded when it changes. If the new version is invalid, the last
// valid version remains in use, so that an editing mistake does not lock out all users. watchedFile
// is safe for concurrent use.
type watchedFile[T any] struct {
	path string
	// The field forbidden contains the permission bits that the file must not have.
	forbidden fs.FileMode
	decode    func([]byte) (T, error)
	// The field empty reports whether a missing file counts as an empty file. Set this field for a
	// file that is missing only if a person has removed it.
	empty bool

	mu     sync.Mutex
	value  T
	info   fs.FileInfo // the metadata of the file when value was read, or nil
	looked time.Time
	failed string // the last logged error
}

// get returns the latest valid version.
func (w *watchedFile[T]) get(now time.Time, log *slog.Logger) T {
	w.mu.Lock()
	defer w.mu.Unlock()
	if age := now.Sub(w.looked); w.info != nil && 0 <= age && age < checkEvery {
		return w.value
	}
	w.looked = now
	err := w.refresh(now)
	if w.empty && errors.Is(err, fs.ErrNotExist) {
		var none T
		w.value, w.info = none, nil
	}
	if err != nil {
		if w.failed != err.Error() && log != nil {
			log.Error("cannot read a file; the last valid version stays in use unless the file was removed", "file", w.path, "error", err)
		}
		w.failed = err.Error()
		return w.value
	}
	w.failed = ""
	return w.value
}

// refresh reads the file if it has changed.
func (w *watchedFile[T]) refresh(now time.Time) error {
	info, err := os.Stat(w.path)
	if err != nil {
		return cause(err)
	}
	if w.info != nil && now.Sub(info.ModTime()) > settled && same(w.info, info) {
		return nil
	}
	value, info, err := w.read()
	if err != nil {
		return err
	}
	w.value, w.info = value, info
	return nil
}

func same(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.Mode() == b.Mode() && a.ModTime().Equal(b.ModTime())
}

// read reads the file even if it has not changed.
func (w *watchedFile[T]) read() (value T, info fs.FileInfo, err error) {
	f, err := os.Open(w.path)
	if err != nil {
		return value, nil, cause(err)
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return value, nil, cause(err)
	}
	if !info.Mode().IsRegular() {
		return value, nil, errors.New("the path is not a regular file")
	}
	if info.Mode().Perm()&w.forbidden != 0 && runtime.GOOS != "windows" { // Windows does not have these permission bits
		return value, nil, fmt.Errorf("the permissions %04o are too permissive: set them to %o with chmod", info.Mode().Perm(), info.Mode().Perm()&^w.forbidden)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return value, nil, cause(err)
	}
	if len(data) > maxFileBytes {
		return value, nil, fmt.Errorf("the file exceeds %d bytes", maxFileBytes)
	}
	value, err = w.decode(data)
	return value, info, err
}

// forget makes the next call of get read the file again.
func (w *watchedFile[T]) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.info = nil
}

// cause returns the underlying system error without the path, because callers add the path as the
// user has written it.
func cause(err error) error {
	if bad, ok := errors.AsType[*fs.PathError](err); ok {
		return bad.Err
	}
	return err
}
