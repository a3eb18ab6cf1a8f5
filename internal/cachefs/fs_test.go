package cachefs_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/toolrun/toolrun/internal/cachefs"
)

// folder creates a folder on the disk. The folder contains files, a subfolder and a link.
func folder(t *testing.T) (dir string, root fs.FS) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range map[string]string{"main.js": "one", "lib/a.js": "a", "lib/b.js": "b"} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("main.js", filepath.Join(dir, "link.js")); err != nil {
		t.Fatal(err)
	}
	opened, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { opened.Close() })
	return dir, opened.FS()
}

func TestFS(t *testing.T) {
	_, root := folder(t)
	if err := fstest.TestFS(cachefs.New(root), "main.js", "lib/a.js", "lib/b.js", "link.js"); err != nil {
		t.Error(err)
	}
}

func TestEachFileIsReadOnce(t *testing.T) {
	dir, root := folder(t)
	files := cachefs.New(root)
	check := func(when string) {
		t.Helper()
		if text, err := fs.ReadFile(files, "main.js"); err != nil || string(text) != "one" {
			t.Errorf("%s: main.js = %q, %v", when, text, err)
		}
		if entries, err := fs.ReadDir(files, "lib"); err != nil || len(entries) != 2 {
			t.Errorf("%s: lib = %v, %v", when, entries, err)
		}
		if target, err := fs.ReadLink(files, "link.js"); err != nil || target != "main.js" {
			t.Errorf("%s: link.js leads to %q, %v", when, target, err)
		}
		if info, err := fs.Lstat(files, "link.js"); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s: link.js is %v, %v", when, info, err)
		}
		if info, err := fs.Stat(files, "main.js"); err != nil || info.Size() != 3 {
			t.Errorf("%s: main.js is %v, %v", when, info, err)
		}
		if _, err := fs.ReadFile(files, "new.js"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: new.js: %v", when, err)
		}
	}
	check("at first")
	for _, name := range []string{"main.js", "new.js", "lib/c.js", "lib/a.js"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("changed"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(dir, "link.js")); err != nil {
		t.Fatal(err)
	}
	check("after changes")
	if text, err := fs.ReadFile(files, "lib/a.js"); err != nil || string(text) != "changed" {
		t.Errorf("a file that was not read before the change = %q, %v", text, err)
	}
	files.Seal()
	check("sealed")
	if _, err := fs.ReadFile(files, "lib/b.js"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that was not read before Seal: %v", err)
	}
}

// TestUnfitFiles checks that invalid paths cause errors. If reading a file would block or exhaust
// the memory, the read must return an error too.
func TestUnfitFiles(t *testing.T) {
	dir, root := folder(t)
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Skipf("this system has no named pipes: %v", err)
	}
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "large"), nil, 0o600), os.Truncate(filepath.Join(dir, "large"), cachefs.MaxFileBytes+1)); err != nil {
		t.Fatal(err)
	}
	files := cachefs.New(root)
	for _, name := range []string{"pipe", "large", "../main.js", "", "/"} {
		if _, err := files.Open(name); err == nil {
			t.Errorf("Open(%q) = nil", name)
		}
	}
}
