package host

import (
	"errors"
	"io/fs"
	"path"
	"strings"
)

// toolFS is a file system that is confined to the folder of a tool. toolFS rejects symbolic links
// that lead out of this folder. The check is necessary, because the underlying file system might
// follow all links, or might be confined only to the app's folder, which also contains other tools.
type toolFS struct{ fsys fs.FS }

// maxLinks is the maximum number of symbolic links that resolve follows for one name.
const maxLinks = 40

var errOutside = errors.New("the path is outside the tool's folder")

// Open resolves the links in a name and opens the resulting file.
func (f toolFS) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	resolved, err := f.resolve(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return f.fsys.Open(resolved)
}

// Stat resolves the links in a name and describes the resulting file. Stat does not open the file,
// because opening a named pipe would block.
func (f toolFS) Stat(name string) (fs.FileInfo, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrInvalid}
	}
	resolved, err := f.resolve(name)
	if err != nil {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	return fs.Stat(f.fsys, resolved)
}

// resolve follows the symbolic links in a name, component by component. resolve returns the
// resulting name.
func (f toolFS) resolve(name string) (string, error) {
	at, rest := ".", strings.Split(name, "/")
	for links := 0; len(rest) > 0; {
		step := rest[0]
		rest = rest[1:]
		if step == ".." && at == "." {
			return "", errOutside
		}
		next := path.Join(at, step)
		info, err := fs.Lstat(f.fsys, next)
		if err != nil {
			return "", err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			at = next
			continue
		}
		target, err := fs.ReadLink(f.fsys, next)
		if err != nil {
			return "", err
		}
		if links++; path.IsAbs(target) || links > maxLinks {
			return "", errOutside
		}
		rest = append(strings.Split(path.Clean(target), "/"), rest...)
	}
	return at, nil
}
