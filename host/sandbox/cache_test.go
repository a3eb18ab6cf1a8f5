//go:build linux

package sandbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/sandbox"
)

// cachedFiles returns the paths of files with compiled code. The paths are relative to the cache
// folder.
func cachedFiles(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range files {
		files[i] = strings.TrimPrefix(files[i], dir+"/")
	}
	return files
}

// TestCache checks that compiled code is cached. Other workers and other pools of the same domain
// must use the cached code.
func TestCache(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "compiled")
	for range 2 { // the second pool finds the code of the first pool
		b := newBench(t, sandbox.Options{CacheDir: dir})
		for _, domain := range []string{"one", "two"} {
			got, err := perform(t, b.load(t, "found", domain), "", engine.Input{}, enough, engine.Host{})
			if got != "found" {
				t.Errorf("compiled code = %q, %v; want found", got, err)
			}
		}
		if files := cachedFiles(t, dir); len(files) != 2 || filepath.Dir(files[0]) == filepath.Dir(files[1]) {
			t.Errorf("cached files = %v; want one for each of two domains", files)
		}
	}
}

// TestCacheIsSafe checks that workers cannot write to their cache. TestCacheIsSafe also checks that
// workers cannot read the cache of another domain.
func TestCacheIsSafe(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "compiled")
	b := newBench(t, sandbox.Options{CacheDir: dir})
	report, err := b.pool.Report()
	if err != nil || !report.On(sandbox.LayerLandlock) {
		t.Skipf("this machine lacks the layer %s: %v", sandbox.LayerLandlock, err)
	}
	b.load(t, "answer", "one")
	b.load(t, "who", "two") // another source is cached under another name
	files := cachedFiles(t, dir)
	if len(files) != 2 {
		t.Fatalf("cached files = %v; want two", files)
	}
	readable := 0
	for _, file := range files {
		if report.On(sandbox.LayerChroot) { // the root of the worker is the folder of its domain
			file = filepath.Join("/", filepath.Base(filepath.Dir(file)), filepath.Base(file))
		} else {
			file = filepath.Join(dir, file)
		}
		for _, act := range []string{"open a file", "write a file", "remove a file"} {
			got, err := perform(t, b.load(t, act, "one"), file, engine.Input{}, enough, engine.Host{})
			if err != nil {
				t.Fatal(err)
			}
			if got == "done" && act != "open a file" {
				t.Errorf("%s of the cache succeeded; want an error", act)
			}
			if got == "done" {
				readable++
			}
		}
	}
	if readable != 1 {
		t.Errorf("%d of two files are readable; want only the file of the worker's own domain", readable)
	}
}

// TestUnsafeFolder checks that the cache ignores a folder if other users can write to it.
func TestUnsafeFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "compiled")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	b := newBench(t, sandbox.Options{CacheDir: dir})
	if got, err := perform(t, b.load(t, "found", ""), "", engine.Input{}, enough, engine.Host{}); got != "nowhere" {
		t.Errorf("compiled code = %q, %v; want nowhere", got, err)
	}
}
