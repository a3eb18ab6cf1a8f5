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

// TestComputingNames: each test that runs without the race detector exists, and no other test has its name, which would
// not run at all.
func TestComputingNames(t *testing.T) {
	declared := map[string][]string{} // the folders that declare a test, by its name
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
				t.Errorf("%s is declared in %v; want it in %s and nowhere else", name, got, folder)
			}
		}
	}
}
