package app

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// document returns the content of a file of YAML or JSON, or nil where it has problems, which are reported
// for whoever is being read. A file is read once, however often it is named.
func (l *load) document(file string, at place) *node {
	if root, ok := l.documents[file]; ok && root != nil {
		return root
	}
	content, ok := l.read(file, at)
	if !ok {
		return nil
	}
	root, problems := parse(file, content)
	for _, p := range problems {
		l.report(p)
	}
	l.documents[file] = root
	return root
}

// read returns the content of a file that is named at a place.
func (l *load) read(file string, at place) ([]byte, bool) {
	if !l.isFile(at, file) {
		return nil, false
	}
	f, err := l.fsys.Open(file)
	if err != nil {
		l.fileProblem(at, file, err)
		return nil, false
	}
	defer f.Close()
	// One byte more than may be tells parse that the file is too large.
	content, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1+int64(len("\ufeff"))))
	if err != nil {
		l.fileProblem(at, file, err)
		return nil, false
	}
	return content, l.spend(at, len(content))
}

// maxTotalBytes bounds what one declaration reads and compiles, however often it names the same schema.
const maxTotalBytes = 16 << 20

// spend counts bytes and reports whether they are within maxTotalBytes.
func (l *load) spend(at place, bytes int) bool {
	if l.spent += bytes; l.spent > maxTotalBytes {
		l.errorf(at, OverLimit, "", "the files and schemas of the app take more than %d MiB", maxTotalBytes>>20)
		return false
	}
	return true
}

// isFile reports whether there is a regular file. Others are never opened: a pipe would wait for ever.
func (l *load) isFile(at place, file string) bool {
	if !fs.ValidPath(file) {
		l.errorf(at, OutsideFolder, "", "%s is not a path within the folder", quote(file))
		return false
	}
	info, err := fs.Stat(l.fsys, file)
	switch {
	case err != nil:
		l.fileProblem(at, file, err)
	case info.Mode().IsRegular():
		return true
	default:
		l.errorf(at, Unreadable, "", "%s is not a file", quote(file))
	}
	return false
}

// fileProblem says why a file cannot be read, without what the system says: that may hold the host's paths.
func (l *load) fileProblem(at place, file string, err error) {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		l.errorf(at, MissingFile, l.similarFile(file), "%s does not exist", quote(file))
	case errors.Is(err, fs.ErrPermission):
		l.errorf(at, MissingFile, "", "%s cannot be read: permission denied", quote(file))
	case strings.Contains(err.Error(), "escapes from parent"): // os.Root has no error value for it
		l.errorf(at, OutsideFolder, "put the file itself there", "%s is a link that leaves the folder", quote(file))
	default:
		l.errorf(at, MissingFile, "", "%s cannot be read", quote(file))
	}
}

// similarFile returns a hint that names a file like the missing one, or "".
func (l *load) similarFile(file string) string {
	entries, err := fs.ReadDir(l.fsys, path.Dir(file))
	if err != nil {
		return ""
	}
	var names []string
	const most = 1000
	for _, e := range entries[:min(len(entries), most)] {
		names = append(names, e.Name())
	}
	if near := nearest(path.Base(file), names); near != "" {
		return "did you mean " + path.Join(path.Dir(file), near) + "?"
	}
	return ""
}

var drive = regexp.MustCompile(`^[A-Za-z]:`)

// resolve turns a path that is written in a file of the folder base into one from the root.
func (l *load) resolve(n *node, base string) (string, bool) {
	p := n.value
	file := path.Join(base, p)
	switch {
	case p == "":
		l.errorf(n.place, BadValue, "", "the path is empty")
	case strings.Contains(p, `\`):
		l.errorf(n.place, BadValue, "write "+quote(strings.ReplaceAll(p, `\`, "/")), `a path is written with /, not with \`)
	case path.IsAbs(p), drive.MatchString(p), drive.MatchString(file):
		l.errorf(n.place, OutsideFolder, "write a path relative to this file", "%s is an absolute path", quote(p))
	case file == "..", strings.HasPrefix(file, "../"):
		l.errorf(n.place, OutsideFolder, "nothing outside of it is read; put the file there", "%s leaves the app's folder", quote(p))
	case !fs.ValidPath(file):
		l.errorf(n.place, BadValue, "", "%s is not a path", quote(p))
	default:
		return file, true
	}
	return "", false
}
