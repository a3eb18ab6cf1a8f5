package app

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/toolrun/toolrun/host/problem"
	"github.com/toolrun/toolrun/internal/lazyregexp"
)

// fileReader reads the files of one declaration.
type fileReader struct {
	*reporter
	fsys fs.FS // nil for Import, which reads no files
	// documents contains the parsed files by path. For an invalid file, the value in documents is
	// nil.
	documents map[string]*node
	spent     int // bytes, see maxTotalBytes
}

// document returns the content of a YAML or JSON file, or nil if the file is invalid. document
// reports problems for the current tool or prompt. Each file is read only once.
func (r *fileReader) document(file string, at position) *node {
	if root, ok := r.documents[file]; ok && root != nil {
		return root
	}
	content, ok := r.read(file, at)
	if !ok {
		return nil
	}
	root, problems := parse(file, content)
	for _, p := range problems {
		r.report(p)
	}
	r.documents[file] = root
	return root
}

// The method "read" returns the bytes of a file. The argument "at" is the position of the name of
// the file in the declaration.
func (r *fileReader) read(file string, at position) ([]byte, bool) {
	if !r.isFile(at, file) {
		return nil, false
	}
	f, err := r.fsys.Open(file)
	if err != nil {
		r.fileProblem(at, file, err)
		return nil, false
	}
	defer f.Close()
	// Read one byte more than the limit, so that the function parse detects a file that is too
	// large.
	content, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1+int64(len("\ufeff"))))
	if err != nil {
		r.fileProblem(at, file, err)
		return nil, false
	}
	return content, r.spend(at, len(content))
}

// maxTotalBytes is the maximum number of bytes that are read and compiled for one declaration. A
// schema that is referenced several times counts once for each reference.
const maxTotalBytes = 16 << 20

// spend adds n to the total of bytes and reports whether the total is within maxTotalBytes.
func (r *fileReader) spend(at position, bytes int) bool {
	if r.spent += bytes; r.spent > maxTotalBytes {
		r.errorf(at, problem.OverLimit, "", "the files and schemas of the app exceed %d MiB in total", maxTotalBytes>>20)
		return false
	}
	return true
}

// isFile reports whether a regular file with the given name exists. Only regular files are opened,
// because opening a named pipe would block.
func (r *fileReader) isFile(at position, file string) bool {
	if !fs.ValidPath(file) {
		r.errorf(at, problem.OutsideFolder, "", "the path %s is not in the folder", problem.Quote(file))
		return false
	}
	info, err := fs.Stat(r.fsys, file)
	switch {
	case err != nil:
		r.fileProblem(at, file, err)
	case info.Mode().IsRegular():
		return true
	default:
		r.errorf(at, problem.Unreadable, "", "the path %s is not a file", problem.Quote(file))
	}
	return false
}

// fileProblem reports why a file cannot be read. fileProblem omits the message of the operating
// system, which can contain paths of the host.
func (r *fileReader) fileProblem(at position, file string, err error) {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.errorf(at, problem.MissingFile, r.similarFile(file), "the path %s does not exist", problem.Quote(file))
	case errors.Is(err, fs.ErrPermission):
		r.errorf(at, problem.MissingFile, "", "cannot read %s: permission denied", problem.Quote(file))
	case strings.Contains(err.Error(), "escapes from parent"): // os.Root has no exported error value for paths that escape
		r.errorf(at, problem.OutsideFolder, "replace the link with the file", "the path %s is a link to a file outside the folder", problem.Quote(file))
	default:
		r.errorf(at, problem.MissingFile, "", "cannot read %s", problem.Quote(file))
	}
}

// similarFile returns a hint with the name of a similar file, or "".
func (r *fileReader) similarFile(file string) string {
	entries, err := fs.ReadDir(r.fsys, path.Dir(file))
	if err != nil {
		return ""
	}
	var names []string
	const maxEntries = 1000
	for _, e := range entries[:min(len(entries), maxEntries)] {
		names = append(names, e.Name())
	}
	if near := nearest(path.Base(file), names); near != "" {
		return "did you mean " + path.Join(path.Dir(file), near) + "?"
	}
	return ""
}

var drive = lazyregexp.New(`^[A-Za-z]:`)

// resolve converts a path relative to the folder base to a path relative to the folder of the app.
func (r *fileReader) resolve(n *node, base string) (string, bool) {
	p := n.value
	file := path.Join(base, p)
	switch {
	case p == "":
		r.errorf(n.position, problem.BadValue, "", "the path is empty")
	case strings.Contains(p, `\`):
		r.errorf(n.position, problem.BadValue, "write "+problem.Quote(strings.ReplaceAll(p, `\`, "/")), `separate folders with /, not with \`)
	case path.IsAbs(p), drive().MatchString(p), drive().MatchString(file):
		r.errorf(n.position, problem.OutsideFolder, "write a path relative to this file", "the path %s is absolute", problem.Quote(p))
	case file == "..", strings.HasPrefix(file, "../"):
		r.errorf(n.position, problem.OutsideFolder, "move the file into the app's folder", "the path %s is outside the app's folder", problem.Quote(p))
	case !fs.ValidPath(file):
		r.errorf(n.position, problem.BadValue, "", "the text %s is not a valid path", problem.Quote(p))
	default:
		return file, true
	}
	return "", false
}
