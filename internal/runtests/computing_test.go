package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestComputingNames checks that each test in computing exists and that its name is unique. If two
// tests had the same name, one of them would not run.
func TestComputingNames(t *testing.T) {
	declared := map[string][]string{} // maps the name of a test to the folders that declare it
	function := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel("../..", filepath.Dir(path))
		for _, m := range function.FindAllSubmatch(text, -1) {
			name := string(m[1])
			declared[name] = append(declared[name], "./"+filepath.ToSlash(folder))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for folder, names := range computing {
		for _, name := range names {
			if got := declared[name]; !slices.Equal(got, []string{folder}) {
				t.Errorf("%s is declared in %v; want it only in %s", name, got, folder)
			}
		}
	}
}
