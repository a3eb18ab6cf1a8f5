package sandbox

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"path"
	"time"
)

var (
	_ fs.StatFS      = (*remoteFS)(nil)
	_ fs.ReadDirFile = (*openFile)(nil)
	_ fs.DirEntry    = remoteEntry{}
)

// remoteFS is the file system of a source. A remoteFS requests each file from the parent only once.
// A remoteFS is safe for concurrent use. A remoteFS becomes invalid when the compilation ends.
type remoteFS struct {
	server *server
	known  map[string]*remoteFile
}

// Open returns a file or a folder. A file contains its complete content, and a folder contains all
// of its entries.
func (r *remoteFS) Open(name string) (fs.File, error) {
	file, err := r.find(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	opened := &openFile{remoteFile: file, left: len(file.entries)}
	opened.Reset(file.data)
	return opened, nil
}

// Stat returns the information about a file. Stat does not copy the content of the file.
func (r *remoteFS) Stat(name string) (fs.FileInfo, error) {
	file, err := r.find(name)
	if err != nil {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	return file, nil
}

func (r *remoteFS) find(name string) (*remoteFile, error) {
	if !fs.ValidPath(name) || len(name) > maxNameBytes-16 {
		return nil, fs.ErrInvalid
	}
	s := r.server
	s.fileMu.Lock()
	defer s.fileMu.Unlock()
	file, ok := r.known[name]
	if !ok {
		if err := s.wire.send(s.wire.frame(kindOpen).text(name)); err != nil {
			return nil, err
		}
		_, f, err := s.wire.receive(&fileSizes)
		if err != nil {
			return nil, err
		}
		if file, err = r.read(f, name); err != nil {
			return nil, err
		}
		r.known[name] = file
	}
	if file.fileType == fileMissing {
		return nil, fs.ErrNotExist
	}
	return file, nil
}

func (r *remoteFS) read(f *fields, name string) (*remoteFile, error) {
	file := &remoteFile{name: path.Base(name), fileType: f.number(), data: f.data()}
	for range f.count(maxEntries) {
		file.entries = append(file.entries, remoteEntry{files: r, path: path.Join(name, f.text()), folder: f.number() == 1})
	}
	if err := f.end(); err != nil {
		return nil, fmt.Errorf("read tool file: %w", err)
	}
	return file, nil
}

// A remoteFile is an immutable file or folder.
type remoteFile struct {
	name     string
	fileType uint64
	data     []byte
	entries  []fs.DirEntry
}

// An openFile is an open remoteFile. Each openFile has its own read position.
type openFile struct {
	*remoteFile
	bytes.Reader
	left int // how many entries ReadDir has not returned yet
}

func (f *openFile) Stat() (fs.FileInfo, error) { return f.remoteFile, nil }
func (f *openFile) Close() error               { return nil }

// ReadDir implements fs.ReadDirFile.
func (f *openFile) ReadDir(n int) ([]fs.DirEntry, error) {
	left := f.entries[len(f.entries)-f.left:]
	if n <= 0 {
		f.left = 0
		return left, nil
	}
	if len(left) == 0 {
		return nil, io.EOF
	}
	n = min(n, len(left))
	f.left -= n
	return left[:n], nil
}

func (f *remoteFile) Name() string       { return f.name }
func (f *remoteFile) Size() int64        { return int64(len(f.data)) }
func (f *remoteFile) ModTime() time.Time { return time.Time{} }
func (f *remoteFile) IsDir() bool        { return f.fileType == fileFolder }
func (f *remoteFile) Sys() any           { return nil }

func (f *remoteFile) Mode() fs.FileMode {
	if f.IsDir() {
		return fs.ModeDir | 0o555
	}
	return 0o444
}

// A remoteEntry is an entry of a folder. The method "Info" requests the file from the parent.
type remoteEntry struct {
	files  *remoteFS
	path   string
	folder bool
}

func (e remoteEntry) Name() string               { return path.Base(e.path) }
func (e remoteEntry) IsDir() bool                { return e.folder }
func (e remoteEntry) Info() (fs.FileInfo, error) { return e.files.Stat(e.path) }

func (e remoteEntry) Type() fs.FileMode {
	if e.folder {
		return fs.ModeDir
	}
	return 0
}
