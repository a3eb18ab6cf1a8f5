package abl

import (
	"strings"

	"github.com/toolrun/toolrun/host/problem"
)

// misspelledPaths warns about a path that the document does not declare, if the document declares a
// similar path. A recall can load facts that the document does not declare. Therefore, a path that
// is both recalled and read is not considered misspelled.
func (c checker) misspelledPaths() {
	var paths []string
	for _, f := range c.d.Memory.Persistent {
		paths = append(paths, f.Value)
	}
	recalled, loads := c.recalledPaths()
	if len(paths) > maxSetNames || loads {
		return
	}
	declared, seen, read := c.d.declaredFacts(), map[string]bool{}, map[string]bool{}
	check := func(at Position, path string) {
		if _, ok := declared(path); ok || seen[path] || len(seen) >= maxComparedNames || !strings.Contains(path, ".") {
			return
		}
		seen[path] = true
		if best := similar(path, paths); best != "" {
			c.r.warnf(at, problem.SuspiciousRule, "did you mean "+best+"?", "the path %s is not declared", path)
		}
	}
	for _, ref := range c.references() {
		path := ref.String()
		if read[path] = true; !recalled[path] {
			check(ref.Position, path)
		}
	}
	for _, recall := range c.d.Memory.Recalls {
		for _, path := range recall.Paths {
			if !read[path.Value] {
				check(path.Position, path.Value)
			}
		}
	}
}

// recalledPaths returns the paths that recalls load. The second result is true if a recall loads a
// domain. A domain can contain paths that are not known.
func (c checker) recalledPaths() (paths map[string]bool, domain bool) {
	paths = map[string]bool{}
	for _, recall := range c.d.Memory.Recalls {
		domain = domain || recall.Domain != ""
		for _, path := range recall.Paths {
			paths[path.Value] = true
		}
	}
	return paths, domain
}
