package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestModules checks that every module is found, starting with the root. Modules in npm packages
// and test data must not be found.
func TestModules(t *testing.T) {
	root := t.TempDir()
	for _, file := range []string{
		"a/go.mod", "a/b/c/go.mod", "go.mod", "go.sum",
		".git/go.mod", "a/node_modules/x/go.mod", "a/testdata/go.mod",
	} {
		if err := os.MkdirAll(filepath.Join(root, filepath.Dir(file)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, file), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := modules(root)
	want := []string{root, filepath.Join(root, "a"), filepath.Join(root, "a/b/c")}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("modules = %v, %v; want %v", got, err, want)
	}
}

// Every module has a job that runs its tests. Tests that limit memory run without the race
// detector.
func TestPackages(t *testing.T) {
	for folder, want := range map[string]struct{ raced, plain string }{
		"../../hostile": {plain: "github.com/toolrun/toolrun/hostile/native"},
		"../../bench":   {raced: "github.com/toolrun/toolrun/bench/isolation"},
		"../..":         {raced: "github.com/toolrun/toolrun/abi", plain: "github.com/toolrun/toolrun/host/sandbox"},
	} {
		raced, plain, err := packages(folder)
		if err != nil {
			t.Fatal(err)
		}
		if want.raced != "" && !slices.Contains(raced, want.raced) || slices.Contains(plain, want.raced) {
			t.Errorf("%s: %s does not run with the race detector", folder, want.raced)
		}
		if want.plain != "" && !slices.Contains(plain, want.plain) || slices.Contains(raced, want.plain) {
			t.Errorf("%s: %s does not run without the race detector", folder, want.plain)
		}
	}
}
