package cachefs

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"sync"
)

// MaxFileBytes is the maximum size of a file. Files that are larger than MaxFileBytes cannot be
// opened.
const MaxFileBytes = 64 << 20

// FS is a file system that caches another file system. FS reads each name once and caches the
// result, even if the result is an error. FS is safe for concurrent use.
type FS struct {
	mu     sync.Mutex
	below  fs.FS // nil after Seal
	files  memo[*file]
	infos  memo[fs.FileInfo]
	own    memo[fs.FileInfo] // results of Lstat
	links  memo[string]
	sealed bool
}

var (
	_ fs.StatFS     = (*FS)(nil)
	_ fs.ReadLinkFS = (*FS)(nil)
)

// New returns a file system that caches another file system.
func New(below fs.FS) *FS {
	return &FS{below: below, files: memo[*file]{}, infos: memo[fs.FileInfo]{}, own: memo[fs.FileInfo]{}, links: memo[string]{}}
}

// Seal stops reads from the underlying file system. After Seal, files that were not read before do
// not exist.
func (f *FS) Seal() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.below, f.sealed = nil, true
}

// Open opens a regular file or a folder.
func (f *FS) Open(name string) (fs.File, error) {
	found, err := ask(f, f.files, "open", name, func() (*file, error) { return read(f.below, name) })
	if err != nil {
		return nil, err
	}
	return found.open(), nil
}

// Stat returns information about a file. Stat follows links.
func (f *FS) Stat(name string) (fs.FileInfo, error) {
	return ask(f, f.infos, "stat", name, func() (fs.FileInfo, error) { return fs.Stat(f.below, name) })
}

// Lstat returns information about a file. Lstat does not follow links.
func (f *FS) Lstat(name string) (fs.FileInfo, error) {
	return ask(f, f.own, "lstat", name, func() (fs.FileInfo, error) { return fs.Lstat(f.below, name) })
}

// ReadLink returns the target of a link.
func (f *FS) ReadLink(name string) (string, error) {
	return ask(f, f.links, "readlink", name, func() (string, error) { return fs.ReadLink(f.below, name) })
}

// memo maps names to results.
type memo[T any] map[string]answer[T]

type answer[T any] struct {
	value T
	err   error
}

// ask returns the cached result for a name. If no cached result exists, ask calls the function
// "read" and caches the result.
func ask[T any](f *FS, known memo[T], op, name string, read func() (T, error)) (value T, err error) {
	if !fs.ValidPath(name) {
		return value, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	a, ok := known[name]
	if !ok && f.sealed {
		return value, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
	}
	if !ok {
		a.value, a.err = read()
		known[name] = a
	}
	return a.value, a.err
}

// file is the cached content of a regular file, or the cached entries of a folder.
type file struct {
	info    fs.FileInfo
	data    []byte
	entries []fs.DirEntry
}

var (
	errTooLarge  = errors.New("the file is too large")
	errIrregular = errors.New("the path is neither a regular file nor a folder")
)

// read reads a file. If a file is not regular, read does not open the file, because opening a pipe
// would block.
func read(below fs.FS, name string) (*file, error) {
	info, err := fs.Stat(below, name)
	if err != nil {
		return nil, err
	}
	read := &file{info: info}
	switch {
	case info.IsDir():
		read.entries, err = fs.ReadDir(below, name)
	case !info.Mode().IsRegular():
		err = &fs.PathError{Op: "open", Path: name, Err: errIrregular}
	default:
		read.data, err = readRegular(below, name)
	}
	return read, err
}

func readRegular(below fs.FS, name string) ([]byte, error) {
	opened, err := below.Open(name)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	data, err := io.ReadAll(io.LimitReader(opened, MaxFileBytes+1))
	if err == nil && len(data) > MaxFileBytes {
		err = &fs.PathError{Op: "read", Path: name, Err: errTooLarge}
	}
	return data, err
}

func (f *file) open() fs.File {
	if f.info.IsDir() {
		return &openFolder{file: f}
	}
	return &openFile{file: f, Reader: *bytes.NewReader(f.data)}
}

// openFile is an open regular file.
type openFile struct {
	*file
	bytes.Reader
}

// Stat returns the info that the file had when it was read.
func (o *openFile) Stat() (fs.FileInfo, error) { return o.info, nil }

// Close does nothing.
func (o *openFile) Close() error { return nil }

// openFolder is an open folder.
type openFolder struct {
	*file
	at int // the index of the next entry
}

// Stat returns the info that the folder had when it was read.
func (o *openFolder) Stat() (fs.FileInfo, error) { return o.info, nil }

// Close does nothing.
func (o *openFolder) Close() error { return nil }

// Read returns an error, because a folder has no content.
func (o *openFolder) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: o.info.Name(), Err: errors.New("is a folder")}
}

// ReadDir returns the next n entries, or all remaining entries if n <= 0.
func (o *openFolder) ReadDir(n int) ([]fs.DirEntry, error) {
	left := o.entries[o.at:]
	if n > 0 {
		if len(left) == 0 {
			return nil, io.EOF
		}
		left = left[:min(n, len(left))]
	}
	o.at += len(left)
	return append([]fs.DirEntry(nil), left...), nil
}
