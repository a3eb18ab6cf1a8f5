package host

import (
	"errors"
	"io/fs"
	"path"
	"strings"
)

// folder is a tool's folder: it opens nothing outside of it, whatever links lie in it. The file system below may
// follow them, or end at the app's folder, in which other tools live.
type folder struct{ fsys fs.FS }

// maxLinks is how many links one name may lead through.
const maxLinks = 40

var errLeaves = errors.New("the name leads out of the tool's folder")

// Open opens the file that name leads to.
func (f folder) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	resolved, err := f.resolve(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return f.fsys.Open(resolved)
}

// Stat looks at the file that name leads to, without opening it: a pipe would wait for somebody to write to it.
func (f folder) Stat(name string) (fs.FileInfo, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrInvalid}
	}
	resolved, err := f.resolve(name)
	if err != nil {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	return fs.Stat(f.fsys, resolved)
}

// resolve follows the links in a name, step by step.
func (f folder) resolve(name string) (string, error) {
	at, rest := ".", strings.Split(name, "/")
	for links := 0; len(rest) > 0; {
		step := rest[0]
		rest = rest[1:]
		if step == ".." && at == "." {
			return "", errLeaves
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
			return "", errLeaves
		}
		rest = append(strings.Split(path.Clean(target), "/"), rest...)
	}
	return at, nil
}
