package main

import (
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// modules returns the folders of all modules at or below root, starting with root.
func modules(root string) (folders []string, err error) {
	err = filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && file != root && (name == "testdata" || name == "node_modules" || strings.HasPrefix(name, ".")) {
			return filepath.SkipDir
		}
		if !entry.IsDir() && name == "go.mod" {
			folders = append(folders, filepath.Dir(file))
		}
		return nil
	})
	slices.Sort(folders)
	return folders, err
}

// list returns the import paths of the packages of a module.
func list(folder string) ([]string, error) {
	cmd := exec.Command("go", "list", "./...")
	cmd.Dir = folder
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list in %s: %w", folder, err)
	}
	return strings.Fields(string(out)), nil
}
