package test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadme compiles the tool and the test that the README shows, and then runs the test.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(readme), "```c\n")
	if len(blocks) != 3 {
		t.Fatalf("README.md contains %d sources; want a tool and its test", len(blocks)-1)
	}
	dir := t.TempDir()
	var sources []string
	for i, name := range []string{"main.c", "test.c"} {
		source, _, _ := strings.Cut(blocks[i+1], "```")
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
		sources = append(sources, path)
	}
	native(t, sources...)
}
