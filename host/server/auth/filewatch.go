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
	// lookEvery bounds how often a file is looked at: a change is seen that much later at most.
	checkEvery = time.Second
	// settled is how old a file's last change must be for its time to tell it from the next one. The clocks of file
	// systems are coarse, so a younger file is read again in case it changed twice in one tick.
	settled = 2 * time.Second
	// maxFileBytes bounds a file: some ten thousand keys.
	maxFileBytes = 4 << 20
)

// watched is a file that is read again when it changed. While a new version cannot be read the last good one stays in
// use: a slip of who edits it must not lock everybody out. It is safe for concurrent use.
type watchedFile[T any] struct {
	path string
	// forbidden are the permissions that the file may not have.
	forbidden fs.FileMode
	decode    func([]byte) (T, error)
	// empty says that no file is a file with nothing in it: who removes it means that.
	empty bool

	mu     sync.Mutex
	value  T
	info   fs.FileInfo // of the version that value is; nil for none
	looked time.Time
	failed string // what was logged last
}

// get returns the newest version that can be read.
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
			log.Error("a file cannot be read: what it held before stays in use, but where it was removed", "file", w.path, "error", err)
		}
		w.failed = err.Error()
		return w.value
	}
	w.failed = ""
	return w.value
}

// refresh reads the file if it is not the version that is known.
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

// read reads the file, whatever is known of it.
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
		return value, nil, errors.New("it is not a file")
	}
	if info.Mode().Perm()&w.forbidden != 0 && runtime.GOOS != "windows" { // which shows no permissions here
		return value, nil, fmt.Errorf("its permissions are %04o, which are too wide: chmod it to %o", info.Mode().Perm(), info.Mode().Perm()&^w.forbidden)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return value, nil, cause(err)
	}
	if len(data) > maxFileBytes {
		return value, nil, fmt.Errorf("it is larger than %d bytes", maxFileBytes)
	}
	value, err = w.decode(data)
	return value, info, err
}

// forget has the next get read the file.
func (w *watchedFile[T]) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.info = nil
}

// cause is what the system said, without the path: whoever reports it knows how it was written.
func cause(err error) error {
	if bad, ok := errors.AsType[*fs.PathError](err); ok {
		return bad.Err
	}
	return err
}
