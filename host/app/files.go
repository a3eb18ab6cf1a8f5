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

// fileReader reads all files that belong to one declaration.
type fileReader struct {
	*reporter
	fsys fs.FS // nil while Import reads a document, because Import reads no other files
	// documents contains the files that were parsed. The keys are the paths of the files. If a file
	// is invalid, its value is nil.
	documents map[string]*node
	spent     int // bytes, see maxTotalBytes
}

// document returns the content of a YAML or JSON file. If the file is invalid, the method returns
// nil, and reports problems for the current tool or prompt. No file is read more than once.
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

// read returns the bytes in a file. The declaration contains the name of the file. The argument
// "at" is the position of this name.
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
	// One byte more than the limit is read, so that the function "parse" can detect a file that is
	// too large.
	content, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1+int64(len("\ufeff"))))
	if err != nil {
		r.fileProblem(at, file, err)
		return nil, false
	}
	return content, r.spend(at, len(content))
}

// maxTotalBytes is the maximum total size of the files that are read and the schemas that are
// compiled for one declaration. If a schema is referenced several times, its size counts once for
// each reference.
const maxTotalBytes = 16 << 20

// spend adds the argument n to the total number of bytes. spend reports whether the total is at
// most maxTotalBytes.
func (r *fileReader) spend(at position, bytes int) bool {
	if r.spent += bytes; r.spent > maxTotalBytes {
		r.errorf(at, problem.OverLimit, "", "the files and schemas of the app exceed %d MiB in total", maxTotalBytes>>20)
		return false
	}
	return true
}

// isFile reports whether a regular file with the given name exists. Other files are not opened. For
// example, opening a named pipe would block.
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

// fileProblem reports why a file cannot be read. The message of the operating system is omitted,
// because it can contain paths of the host.
func (r *fileReader) fileProblem(at position, file string, err error) {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.errorf(at, problem.MissingFile, r.similarFile(file), "the path %s does not exist", problem.Quote(file))
	case errors.Is(err, fs.ErrPermission):
		r.errorf(at, problem.MissingFile, "", "cannot read %s: permission denied", problem.Quote(file))
	case strings.Contains(err.Error(), "escapes from parent"): // os.Root exports no such error value
		r.errorf(at, problem.OutsideFolder, "replace the link with the file", "the path %s is a link to a file outside the folder", problem.Quote(file))
	default:
		r.errorf(at, problem.MissingFile, "", "cannot read %s", problem.Quote(file))
	}
}

// similarFile returns a hint that contains the name of a similar file. If no similar file exists,
// similarFile returns "".
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

// resolve converts a path relative to the folder "base" to a path relative to the folder of the
// app. If the path is invalid or leads out of the app's folder, resolve reports an error and the
// second result is false.
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
