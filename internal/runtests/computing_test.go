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

// TestComputingNames checks that each test in computing exists, and that no other package has a
// test of the same name. If two packages had a test of the same name, the test of the other package
// would not run.
func TestComputingNames(t *testing.T) {
	declared := map[string][]string{} // the folders that declare a test, by name
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
	listed := map[string][]string{}
	for _, folder := range packagesOf(computing) {
		for _, name := range computing[folder] {
			listed[name] = append(listed[name], folder)
		}
	}
	for name, folders := range listed {
		if got := slices.Sorted(slices.Values(declared[name])); !slices.Equal(got, folders) {
			t.Errorf("%s is declared in %v; computing lists it in %v", name, got, folders)
		}
	}
}
