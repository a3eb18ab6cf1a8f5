package machine_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolrun/toolrun/internal/codecache"
	"github.com/toolrun/toolrun/internal/wasm/machine"
)

// TestOpenSealed opens a folder that Save has written. TestOpenSealed expects an error if the
// folder was changed or is not private.
func TestOpenSealed(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	saved, err := machine.Save(t.Context(), dir, rewritten(t, module()), noImports)
	closing(t, saved, err)
	if _, err := machine.OpenSealed(t.Context(), dir, noImports); !errors.Is(err, machine.ErrDamaged) {
		t.Errorf("OpenSealed before it is sealed = %v; want ErrDamaged", err)
	}
	if err := codecache.Seal(dir); err != nil {
		t.Fatal(err)
	}
	opened, err := machine.OpenSealed(t.Context(), dir, noImports)
	checkAdd(t, restored(t, closing(t, opened, err)).Guest())

	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := machine.OpenSealed(t.Context(), dir, noImports); !errors.Is(err, machine.ErrDamaged) {
		t.Errorf("OpenSealed of a folder that others can read = %v; want ErrDamaged", err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "module"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := machine.OpenSealed(t.Context(), dir, noImports); !errors.Is(err, machine.ErrDamaged) {
		t.Errorf("OpenSealed of a damaged folder = %v; want ErrDamaged", err)
	}
}

// TestCache fills a cache once, then gets the machine from the cache. TestCache fills the cache
// again after damage.
func TestCache(t *testing.T) {
	cache := machine.Cache{Dir: filepath.Join(t.TempDir(), "cache")}
	code := rewritten(t, module())
	filled := 0
	get := func() {
		t.Helper()
		open := func(dir string) (*machine.Machine, error) { return machine.Open(t.Context(), dir, noImports) }
		m := cache.Get("one", open, func(dir string) (*machine.Machine, error) {
			filled++
			return machine.Save(t.Context(), dir, code, noImports)
		})
		if m == nil {
			t.Fatal("Get = nil; want a machine")
		}
		checkAdd(t, restored(t, closing(t, m, nil)).Guest())
	}
	if cache.Has("one") {
		t.Error("Has of an empty cache = true")
	}
	get()
	get()
	if filled != 1 || !cache.Has("one") {
		t.Errorf("the cache was filled %d times, Has = %t; want once", filled, cache.Has("one"))
	}
	if err := os.WriteFile(filepath.Join(cache.Dir, "one", "module"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	get()
	get()
	if filled != 2 {
		t.Errorf("the cache was filled %d times; want once more after damage", filled)
	}
	if entries, err := os.ReadDir(cache.Dir); err != nil || len(entries) != 1 {
		t.Errorf("the cache holds %v, %v; want one folder", entries, err)
	}
}

// TestCacheFails checks that a machine that cannot be compiled leaves no files behind.
// TestCacheFails also checks that a folder that other users can write to is not used.
func TestCacheFails(t *testing.T) {
	private, shared := filepath.Join(t.TempDir(), "cache"), t.TempDir()
	if err := os.Chmod(shared, 0o777); err != nil {
		t.Fatal(err)
	}
	open := func(string) (*machine.Machine, error) { return nil, errors.New("not there") }
	for _, dir := range []string{private, shared, ""} {
		called := false
		m := machine.Cache{Dir: dir}.Get("one", open, func(string) (*machine.Machine, error) {
			called = true
			return nil, errors.New("cannot be made")
		})
		if m != nil || called != (dir == private) {
			t.Errorf("Get in %q = %v, and called fill: %t", dir, m, called)
		}
		if found := files(t, dir); dir != "" && len(found) != 0 {
			t.Errorf("%s holds %v; want nothing", dir, found)
		}
	}
	entries, err := os.ReadDir(private)
	if err != nil || len(entries) != 0 {
		t.Errorf("the cache holds %v, %v; want nothing", entries, err)
	}
}
