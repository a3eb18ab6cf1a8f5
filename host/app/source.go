package app

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Extensions returns the default of Loader.Extensions: those of the engines that come with toolrun.
func Extensions() []string { return slices.Clone(bundledExtensions) }

var entryNames = []string{"main", "index"}

// source follows the source of a tool, which is a file or a folder, and returns the folder's manifest, or nil
// for none. Places where it fails leave t.Source empty.
func (l *load) source(n *node, t *Tool) *node {
	name := l.text(n, "source")
	if n.kind != text {
		return nil
	}
	file, ok := l.resolve(n, path.Dir(n.file))
	if !ok {
		return nil
	}
	if l.fsys == nil { // an import looks at no files, so the name alone must tell
		if strings.HasSuffix(name, "/") || path.Ext(file) == "" {
			t.Dir = file
			return nil
		}
		l.sourceFile(n, t, file)
		return nil
	}
	info, err := fs.Stat(l.fsys, file)
	switch {
	case err != nil:
		l.fileProblem(n.place, file, err)
	case info.IsDir():
		t.Dir = file
		return l.folder(n, t)
	case !info.Mode().IsRegular():
		l.errorf(n.place, BadSource, "", "%s is neither a file nor a folder", quote(name))
	default:
		l.sourceFile(n, t, file)
		l.lintManifestBeside(n, file)
	}
	return nil
}

// sourceFile takes a file for the tool's source if an engine runs such files.
func (l *load) sourceFile(n *node, t *Tool, file string) {
	if ext := path.Ext(file); !slices.Contains(l.Extensions, ext) {
		l.errorf(n.place, BadSource, "a source ends in "+strings.Join(l.Extensions, ", "), "no engine runs %s files such as %s", quote(ext), quote(file))
		return
	}
	t.Source = file
}

// folder finds the entry file of a tool's folder and returns the folder's manifest, or nil for none.
func (l *load) folder(n *node, t *Tool) *node {
	var manifest *node
	file := path.Join(t.Dir, ManifestName)
	if _, err := fs.Stat(l.fsys, file); !errors.Is(err, fs.ErrNotExist) {
		if manifest = l.document(file, n.place); manifest == nil {
			return nil
		}
	}
	named := (*node)(nil)
	if manifest != nil {
		named = manifest.get("source")
	}
	if named == nil {
		l.defaultEntry(n, t)
		return manifest
	}
	if l.text(named, "source") == "" {
		return manifest
	}
	entry, ok := l.resolve(named, t.Dir)
	switch {
	case !ok:
	case t.Dir != "." && !strings.HasPrefix(entry, t.Dir+"/"):
		l.errorf(named.place, OutsideFolder, "keep a tool's code in its folder", "%s is outside of the tool's folder", quote(named.value))
	case l.isFile(named.place, entry):
		l.sourceFile(named, t, entry)
	}
	return manifest
}

// defaultEntry takes the one file of the folder that is called main or, failing that, index.
func (l *load) defaultEntry(n *node, t *Tool) {
	for _, name := range entryNames {
		var found []string
		for _, ext := range l.Extensions {
			if info, err := fs.Stat(l.fsys, path.Join(t.Dir, name+ext)); err == nil && info.Mode().IsRegular() {
				found = append(found, name+ext)
			}
		}
		if len(found) > 1 {
			l.errorf(n.place, BadSource, "say which one in its "+ManifestName+", such as source: "+found[0], "the folder %s holds %s", quote(t.Dir), strings.Join(found, " and "))
			return
		}
		if len(found) == 1 {
			t.Source = path.Join(t.Dir, found[0])
			return
		}
	}
	l.errorf(n.place, BadSource, "name the file with source in its "+ManifestName+", or call it main with one of the extensions "+strings.Join(l.Extensions, ", "), "the folder %s holds no main or index that an engine runs", quote(t.Dir))
}
