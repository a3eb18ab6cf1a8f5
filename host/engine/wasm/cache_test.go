package wasm_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/wasm"
)

// TestCache damages the cached files of a plug-in in several ways. The plug-in must load in each
// case.
func TestCache(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	code := plugin(nil)
	load := func(t *testing.T) {
		t.Helper()
		p, err := wasm.New(wasm.WithCache(dir)).Load(t.Context(), engine.Source{Path: "p.wasm", Code: code})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if out, err := p.Run(t.Context(), engine.Input{}, engine.Host{}); err != nil {
			t.Errorf("Run = %s, %v", out.Output, err)
		}
	}
	load(t)
	for _, file := range files(t, dir) {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for at := range min(len(content), 64) {
			damaged := append([]byte(nil), content...)
			damaged[at] ^= 0xff
			if err := os.WriteFile(file, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			load(t)
		}
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		load(t)
	}
	if n := len(files(t, dir)); n != 2 { // the machine code and its checksum
		t.Errorf("the cache contains %d files; want 2", n)
	}
}

// TestCacheIsNotUsed checks that the engine does not use a cache folder to which other users can
// write, or a path that is not a folder.
func TestCacheIsNotUsed(t *testing.T) {
	open, file := t.TempDir(), filepath.Join(t.TempDir(), "file")
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{open, file, ""} {
		p, err := wasm.New(wasm.WithCache(dir)).Load(t.Context(), engine.Source{Path: "p.wasm", Code: plugin(nil)})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	if found := files(t, open); len(found) != 0 {
		t.Errorf("a directory that others may write to contains %v; want no files", found)
	}
}

func files(t *testing.T, dir string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
