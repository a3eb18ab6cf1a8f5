package app

import (
	"io/fs"
	"path"
	"strings"

	"github.com/toolrun/toolrun/host/problem"
)

// LoadTool reads a single tool without an app. The argument "name" is the path of a source file, or
// of a folder with an optional manifest. The path "." is the root of fsys. The name of the tool is
// the name in the manifest. Without a name in a manifest, the name of the folder or file is used.
// LoadTool does not check whether the stores in grants exist. The tool is nil if a problem is an
// error.
func LoadTool(fsys fs.FS, name string) (*Tool, problem.List) { return Loader{}.LoadTool(fsys, name) }

// LoadTool is like the function LoadTool, but uses the limits of the Loader.
func (ld Loader) LoadTool(fsys fs.FS, name string) (*Tool, problem.List) {
	l := ld.begin(fsys)
	t := Tool{}
	manifest := l.tools.sources.source(&node{position: position{file: "."}, kind: text, value: name}, &t)
	for i := range l.problems {
		if l.problems[i].File == "." { // a problem of the argument "name" has no file
			l.problems[i].File = name
		}
	}
	if manifest != nil && l.keys(manifest, "a tool manifest", manifestKeys) {
		t.Name = l.tools.manifestName(manifest, defaultToolName(name))
		l.tools.declaration(manifest.position, 0, &t, manifest)
	} else {
		t.Name = defaultToolName(name)
		l.tools.machine(position{file: name}, &t, func(string) *node { return nil })
	}
	l.problems = l.problems.Sorted()
	if l.problems.Err() != nil {
		return nil, l.problems
	}
	return &t, l.problems
}

func (r *toolReader) manifestName(manifest *node, otherwise string) string {
	n := manifest.get("name")
	if n == nil {
		return otherwise
	}
	name := r.text(n, "name")
	if n.kind == text {
		r.checkToolName(n.position, name, "tool")
	}
	return name
}

// defaultToolName derives a valid name from a path.
func defaultToolName(p string) string {
	base := strings.TrimSuffix(path.Base(p), path.Ext(p))
	base = strings.Trim(notInName().ReplaceAllString(base, "_"), "_")
	if !toolName().MatchString(base) {
		return "tool"
	}
	return base
}
