package main

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// sourceFile is a text file of the tree.
type sourceFile struct {
	name string // the path relative to the root of the repository, with slashes
	text string
}

// skipped lists folders that are not checked. The skipped folders contain generated files, files
// from elsewhere, or this package, whose tables contain the phrases.
var skipped = []string{"hostile/corpus", "internal/words", "bench/out", "sdk/python-wasm/build", "sdk/python/build"}

// generated lists pages that are generated from code. The check of the code covers the text of
// these pages.
var generated = []string{"docs/reference/cli.md"}

// checked lists the extensions of the files that are checked.
var checked = []string{".go", ".md", ".py", ".ts", ".mts", ".js", ".mjs", ".c", ".h", ".txtar"}

// sourceFiles returns the text files of a tree, in lexical order. In testdata folders, sourceFiles
// returns only scripts, because the other files are test inputs.
func sourceFiles(root string) ([]sourceFile, error) {
	var files []sourceFile
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if entry.IsDir() {
			if rel != "." && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules" || slices.Contains(skipped, rel)) {
				return filepath.SkipDir
			}
			return nil
		}
		ext := path.Ext(rel)
		if !slices.Contains(checked, ext) || ext != ".txtar" && strings.Contains("/"+rel, "/testdata/") {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		files = append(files, sourceFile{rel, string(text)})
		return nil
	})
	return files, err
}

// folderDepth contains folders whose subfolders have their own budgets, with the number of path
// elements of these subfolders. All other budget folders have at most two path elements.
var folderDepth = map[string]int{"host/engine": 3, "host/server": 3, "host/storage": 3, "internal/wasm": 3}

// folderOf returns the budget folder that contains a file. For top-level files, folderOf returns
// ".".
func folderOf(file string) string {
	parts := strings.Split(path.Dir(file), "/")
	depth := 2
	if len(parts) > 2 {
		depth = max(depth, folderDepth[parts[0]+"/"+parts[1]])
	}
	return path.Join(parts[:min(depth, len(parts))]...)
}
