package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tree writes files into a new folder, and returns the folder and its source files.
func tree(t *testing.T, texts map[string]string) (dir string, files []sourceFile) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range texts {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files, err := sourceFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir, files
}

// TestReadmeIsShort limits the length of README.md, which readers see first. Details belong in
// docs/.
func TestReadmeIsShort(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if words := len(strings.Fields(string(text))); words > 900 {
		t.Errorf("README.md has %d words; want at most 900", words)
	}
}

func TestBrokenLinks(t *testing.T) {
	dir, files := tree(t, map[string]string{
		"docs/a.md": "# Runs, and `code`: how?\n## Again\n## Again\n[x](b.md#the-end) [x](#again-1) [x](#runs-and-code-how) [x](../go.mod) [x](https://x.example/#y)\n" +
			"```\n[no](link.md)\n```\n[gone](c.md)\n[gone](b.md#start)\n[out](../../b.md) [x](../go.mod#L1)\n",
		"docs/b.md": "<a id=\"the-end\"></a>\n",
		"go.mod":    "module x\n",
		"a.go":      "package a // docs/b.md#the-end is there, docs/c.md is not, nor is docs/b.md#x\n",
	})
	got := brokenLinks(dir, files)
	want := []string{
		"a.go:1: docs/c.md: the file does not exist",
		"a.go:1: docs/b.md#x: the page has no heading #x",
		"docs/a.md:8: link c.md: the file does not exist",
		"docs/a.md:9: link b.md#start: the page has no heading #start",
		"docs/a.md:10: link ../../b.md: the file does not exist",
		"docs/a.md:10: link ../go.mod#L1: only Markdown files have anchors",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the broken links are:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestDistantPages(t *testing.T) {
	_, files := tree(t, map[string]string{
		"docs/README.md": "[a](a.md) [folder](../sdk)", "docs/a.md": "[b](b.md)", "docs/b.md": "[c](c.md)", "docs/c.md": "",
		"sdk/README.md": "", "docs/alone.md": "[a](a.md)", "docs/testdata/x.md": "",
	})
	if got, want := pagesOf(files).distant("docs/README.md", 2), []string{"docs/alone.md", "docs/c.md"}; !slices.Equal(got, want) {
		t.Errorf("the distant pages are %q; want %q", got, want)
	}
}
