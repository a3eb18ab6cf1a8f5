package cachefs

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"sync"
)

// MaxFileBytes bounds a file: a larger one cannot be opened.
const MaxFileBytes = 64 << 20

// FS is a file system below which another one is read, each name once. It holds what was read, the errors too, for as long
// as it lives. It is safe for concurrent use.
type FS struct {
	mu     sync.Mutex
	below  fs.FS // nil once it is sealed
	files  memo[*file]
	infos  memo[fs.FileInfo]
	own    memo[fs.FileInfo] // of links themselves
	links  memo[string]
	sealed bool
}

var (
	_ fs.StatFS     = (*FS)(nil)
	_ fs.ReadLinkFS = (*FS)(nil)
)

// New returns a file system that reads another one.
func New(below fs.FS) *FS {
	return &FS{below: below, files: memo[*file]{}, infos: memo[fs.FileInfo]{}, own: memo[fs.FileInfo]{}, links: memo[string]{}}
}

// Seal ends the reading: a name that nobody asked for until now does not exist.
func (f *FS) Seal() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.below, f.sealed = nil, true
}

// Open opens a regular file, or a folder.
func (f *FS) Open(name string) (fs.File, error) {
	found, err := ask(f, f.files, "open", name, func() (*file, error) { return read(f.below, name) })
	if err != nil {
		return nil, err
	}
	return found.open(), nil
}

// Stat describes the file that a name leads to.
func (f *FS) Stat(name string) (fs.FileInfo, error) {
	return ask(f, f.infos, "stat", name, func() (fs.FileInfo, error) { return fs.Stat(f.below, name) })
}

// Lstat describes what has a name, be it a link.
func (f *FS) Lstat(name string) (fs.FileInfo, error) {
	return ask(f, f.own, "lstat", name, func() (fs.FileInfo, error) { return fs.Lstat(f.below, name) })
}

// ReadLink returns where a link leads.
func (f *FS) ReadLink(name string) (string, error) {
	return ask(f, f.links, "readlink", name, func() (string, error) { return fs.ReadLink(f.below, name) })
}

// memo holds answers by the names that they are about.
type memo[T any] map[string]answer[T]

type answer[T any] struct {
	value T
	err   error
}

// ask answers from a memo, or reads what is to be kept there.
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

// file is what was read: the content of a regular file, or the entries of a folder.
type file struct {
	info    fs.FileInfo
	data    []byte
	entries []fs.DirEntry
}

var (
	errTooLarge  = errors.New("the file is too large")
	errIrregular = errors.New("neither a regular file nor a folder")
)

// read reads a file. What is neither regular nor a folder is not even opened: a pipe would wait for somebody to write to it.
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

// openFile is a regular file that is read, from memory.
type openFile struct {
	*file
	bytes.Reader
}

// Stat describes the file as it was when it was read.
func (o *openFile) Stat() (fs.FileInfo, error) { return o.info, nil }

// Close does nothing.
func (o *openFile) Close() error { return nil }

// openFolder is a folder that is read.
type openFolder struct {
	*file
	at int // in its entries
}

// Stat describes the folder as it was when it was read.
func (o *openFolder) Stat() (fs.FileInfo, error) { return o.info, nil }

// Close does nothing.
func (o *openFolder) Close() error { return nil }

// Read fails: a folder has no content.
func (o *openFolder) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: o.info.Name(), Err: errors.New("is a folder")}
}

// ReadDir returns the next entries, all that are left for n <= 0.
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
