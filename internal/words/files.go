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
	name string // slash-separated, relative to the root of the tree
	text string
}

// skipped holds folders whose text is not ours to reword: the corpus of hostile tools, and the
// tables of this package.
var skipped = []string{"hostile/corpus", "internal/words", "bench/out", "sdk/python-wasm/build"}

// generated holds pages that are made from code, whose words are checked there.
var generated = []string{"docs/reference/cli.md"}

// checked holds the extensions of files whose words are checked.
var checked = []string{".go", ".md", ".py", ".ts", ".mts", ".js", ".mjs", ".c", ".h", ".txtar"}

// sourceFiles returns the text files of a tree, in lexical order. Of testdata folders it returns
// only scripts: the other files in them are inputs.
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

// folderDepth is the number of path elements that a line of the budget has at most. Folders with
// many parts have one more.
var folderDepth = map[string]int{"host/engine": 3, "host/server": 3, "host/storage": 3, "internal/wasm": 3}

// folderOf returns the folder of the budget that a file belongs to, "." for files of the top level.
func folderOf(file string) string {
	parts := strings.Split(path.Dir(file), "/")
	depth := 2
	if len(parts) > 2 {
		depth = max(depth, folderDepth[parts[0]+"/"+parts[1]])
	}
	return path.Join(parts[:min(depth, len(parts))]...)
}
