package app

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/toolrun/toolrun/host/problem"
)

// Extensions returns the extensions of the files that the bundled engines can run.
// Loader.Extensions has this value by default.
func Extensions() []string { return slices.Clone(bundledExtensions) }

var entryNames = []string{"main", "index"}

// sourceReader finds the source files of tools.
type sourceReader struct {
	fieldReader
	files      *fileReader
	extensions []string // a folder is searched for these extensions in this order
}

// The source of a tool is a file or a folder. source sets t.Source, and returns the manifest in the
// folder. If no manifest exists, the result is nil. If there is an error, t.Source is "".
func (r *sourceReader) source(n *node, t *Tool) *node {
	name := r.text(n, "source")
	if n.kind != text {
		return nil
	}
	file, ok := r.files.resolve(n, path.Dir(n.file))
	if !ok {
		return nil
	}
	if r.files.fsys == nil { // Import has no files to read, so it checks only the name
		if strings.HasSuffix(name, "/") || path.Ext(file) == "" {
			t.Dir = file
			return nil
		}
		r.sourceFile(n, t, file)
		return nil
	}
	info, err := fs.Stat(r.files.fsys, file)
	switch {
	case err != nil:
		r.files.fileProblem(n.position, file, err)
	case info.IsDir():
		t.Dir = file
		return r.folder(n, t)
	case !info.Mode().IsRegular():
		r.errorf(n.position, problem.BadSource, "", "the path %s is neither a file nor a folder", problem.Quote(name))
	default:
		r.sourceFile(n, t, file)
		r.lintManifestBeside(n, file)
	}
	return nil
}

// sourceFile makes a file the source of the tool if an engine can run the file. Otherwise,
// sourceFile reports an error.
func (r *sourceReader) sourceFile(n *node, t *Tool, file string) {
	if ext := path.Ext(file); !slices.Contains(r.extensions, ext) {
		r.errorf(n.position, problem.BadSource, "use a source file with one of these extensions: "+strings.Join(r.extensions, ", "), "no engine supports %s files such as %s", problem.Quote(ext), problem.Quote(file))
		return
	}
	t.Source = file
}

// folder finds the entry file in the folder of a tool. folder returns the manifest in this folder,
// or nil if no manifest exists.
func (r *sourceReader) folder(n *node, t *Tool) *node {
	var manifest *node
	file := path.Join(t.Dir, ManifestName)
	if _, err := fs.Stat(r.files.fsys, file); !errors.Is(err, fs.ErrNotExist) {
		if manifest = r.files.document(file, n.position); manifest == nil {
			return nil
		}
	}
	named := (*node)(nil)
	if manifest != nil {
		named = manifest.get("source")
	}
	if named == nil {
		r.defaultEntry(n, t)
		return manifest
	}
	if r.text(named, "source") == "" {
		return manifest
	}
	entry, ok := r.files.resolve(named, t.Dir)
	switch {
	case !ok:
	case t.Dir != "." && !strings.HasPrefix(entry, t.Dir+"/"):
		r.errorf(named.position, problem.OutsideFolder, "move the file into the tool's folder", "the source %s is outside the tool's folder", problem.Quote(named.value))
	case r.files.isFile(named.position, entry):
		r.sourceFile(named, t, entry)
	}
	return manifest
}

// defaultEntry makes the source file with the base name "main" in a tool's folder the source of the
// tool. If no such file exists, defaultEntry tries the base name "index". If several files have
// the same base name, or if none is found, defaultEntry reports an error.
func (r *sourceReader) defaultEntry(n *node, t *Tool) {
	for _, name := range entryNames {
		var found []string
		for _, ext := range r.extensions {
			if info, err := fs.Stat(r.files.fsys, path.Join(t.Dir, name+ext)); err == nil && info.Mode().IsRegular() {
				found = append(found, name+ext)
			}
		}
		if len(found) > 1 {
			r.errorf(n.position, problem.BadSource, "set source in the "+ManifestName+" of the folder, such as source: "+found[0], "the source of the tool is ambiguous, because the folder %s contains %s", problem.Quote(t.Dir), strings.Join(found, " and "))
			return
		}
		if len(found) == 1 {
			t.Source = path.Join(t.Dir, found[0])
			return
		}
	}
	r.errorf(n.position, problem.BadSource, "set source in the "+ManifestName+" of the folder, or name the file main with one of the extensions "+strings.Join(r.extensions, ", "), "the folder %s contains no file named `main` or `index` with a supported extension", problem.Quote(t.Dir))
}

// lintManifestBeside warns about a manifest in the folder of a tool's source file. Such a manifest
// is not read. The folder of the app itself causes no warning.
func (r *sourceReader) lintManifestBeside(n *node, file string) {
	dir := path.Dir(file)
	if dir == "." {
		return
	}
	if _, err := fs.Stat(r.files.fsys, path.Join(dir, ManifestName)); err == nil {
		r.warnf(n.position, problem.NoEffect, "write source: "+dir+" to use the manifest", "the manifest %s is ignored because the source is a file", problem.Quote(path.Join(dir, ManifestName)))
	}
}
