package app

import (
	"io/fs"
	"path"
	"strings"

	"github.com/toolrun/toolrun/host/problem"
)

// LoadTool reads a single tool without an app. The argument "name" is the path of a source file or
// of a folder. The folder can contain a manifest. If this path is ".", it is the root of the
// argument "fsys". If there is a manifest with a name, this name is the name of the tool.
// Otherwise, the name of the folder or file is the name of the tool. LoadTool does not check
// whether the stores that grants name exist. If one of the problems is an error, the returned tool
// is nil.
func LoadTool(fsys fs.FS, name string) (*Tool, problem.List) { return Loader{}.LoadTool(fsys, name) }

// LoadTool is like the function LoadTool, but uses the limits of the Loader.
func (ld Loader) LoadTool(fsys fs.FS, name string) (*Tool, problem.List) {
	l := ld.begin(fsys)
	t := Tool{}
	manifest := l.tools.sources.source(&node{position: position{file: "."}, kind: text, value: name}, &t)
	for i := range l.problems {
		if l.problems[i].File == "." { // if a problem is about the argument "name", it has no file
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

// defaultToolName converts a path to a valid name.
func defaultToolName(p string) string {
	base := strings.TrimSuffix(path.Base(p), path.Ext(p))
	base = strings.Trim(notInName().ReplaceAllString(base, "_"), "_")
	if !toolName().MatchString(base) {
		return "tool"
	}
	return base
}
