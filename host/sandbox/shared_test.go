//go:build linux

package sandbox_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/sandbox"
)

// sharingPool returns a pool with one language. The shared state of this language is prepared from
// a file.
func sharingPool(t *testing.T, cacheDir, key string, files ...string) *sandbox.Pool {
	t.Helper()
	language := sharingLanguage
	shared := *language.Shared
	shared.Key, shared.Files = key, files
	language.Shared = &shared
	pool, err := sandbox.New(sandbox.Options{Languages: []sandbox.Language{language}, CacheDir: cacheDir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Close() })
	return pool
}

// say runs a tool for a domain and returns the output of the tool.
func say(t *testing.T, pool *sandbox.Pool, domain string) (string, error) {
	t.Helper()
	program, err := pool.Engines()[0].Load(t.Context(), engine.Source{Path: "t.sharing", Domain: domain})
	if err != nil {
		return "", err
	}
	defer program.Close()
	out, err := program.Run(t.Context(), engine.Input{Domain: domain}, engine.Host{})
	return string(out.Output), err
}

// TestShared checks that shared state is prepared only once. Only the worker that prepares the
// state can read the source files. Workers of all domains must be able to read the state but not to
// change it.
func TestShared(t *testing.T) {
	dir := t.TempDir()
	file, cacheDir := filepath.Join(dir, "source"), filepath.Join(dir, "cache")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("first")
	pool := sharingPool(t, cacheDir, "1", file)
	for _, domain := range []string{"one", "two"} {
		if got, err := say(t, pool, domain); got != `"first made, readable: true, writable: false"` || err != nil {
			t.Errorf("%s: output = %s, %v", domain, got, err)
		}
	}
	write("second")
	if got, err := say(t, sharingPool(t, cacheDir, "1", file), "one"); got != `"first made, readable: true, writable: false"` || err != nil {
		t.Errorf("another pool with the same key: output = %s, %v", got, err)
	}
	if got, err := say(t, sharingPool(t, cacheDir, "2", file), "one"); got != `"second made, readable: true, writable: false"` || err != nil {
		t.Errorf("a pool with another key: output = %s, %v", got, err)
	}
}

// TestPrepared checks that an engine reports whether its next load will prepare shared state.
func TestPrepared(t *testing.T) {
	dir := t.TempDir()
	file, cacheDir := filepath.Join(dir, "source"), filepath.Join(dir, "cache")
	if err := os.WriteFile(file, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	pool := sharingPool(t, cacheDir, "1", file)
	if engine.IsPrepared(pool.Engines()[0]) {
		t.Error("IsPrepared before the first load = true; want false")
	}
	if _, err := say(t, pool, "one"); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		pool *sandbox.Pool
		want bool
	}{
		"the pool":            {pool, true},
		"another pool":        {sharingPool(t, cacheDir, "1", file), true},
		"another key":         {sharingPool(t, cacheDir, "2", file), false},
		"another cache":       {sharingPool(t, filepath.Join(dir, "other"), "1", file), false},
		"no cache that stays": {sharingPool(t, "", "1", file), false},
	} {
		if got := engine.IsPrepared(test.pool.Engines()[0]); got != test.want {
			t.Errorf("IsPrepared of %s = %t; want %t", name, got, test.want)
		}
	}
}

// TestSharedTakesItsTime checks that the time for preparing shared state does not count toward the
// deadline of a load. A canceled load must end at once.
func TestSharedTakesItsTime(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "source")
	if err := os.WriteFile(file, []byte("slow"), 0o600); err != nil {
		t.Fatal(err)
	}
	load := func(ctx context.Context, cacheDir string) error {
		program, err := sharingPool(t, filepath.Join(dir, cacheDir), "1", file).Engines()[0].Load(ctx, engine.Source{Path: "t.sharing", Domain: "one"})
		if err == nil {
			err = program.Close()
		}
		return err
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := load(ctx, "late"); err != nil {
		t.Errorf("Load with a deadline that passes while state is prepared = %v; want nil", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if err := load(ctx, "cancelled"); !errors.Is(err, abi.Cancelled) {
		t.Errorf("Load cancelled while state is prepared = %v; want cancelled", err)
	}
}

// TestSharedDamaged checks that damaged state is prepared again, and that workers with the damaged
// state are not reused.
func TestSharedDamaged(t *testing.T) {
	dir := t.TempDir()
	file, cacheDir := filepath.Join(dir, "source"), filepath.Join(dir, "cache")
	if err := os.WriteFile(file, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	const want = `"text made, readable: true, writable: false"`
	if got, err := say(t, sharingPool(t, cacheDir, "1", file), "one"); got != want || err != nil {
		t.Fatalf("output = %s, %v; want %s", got, err, want)
	}
	made, err := filepath.Glob(filepath.Join(cacheDir, "*", "*", "made"))
	if err != nil || len(made) != 1 {
		t.Fatalf("prepared files = %v, %v; want one", made, err)
	}
	if err := os.WriteFile(made[0], []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	pool := sharingPool(t, cacheDir, "1", file)
	for range 2 {
		if got, err := say(t, pool, "one"); got != want || err != nil {
			t.Errorf("after the damage: output = %s, %v; want %s", got, err, want)
		}
	}
}

func TestSharedCannotBeMade(t *testing.T) {
	if _, err := say(t, sharingPool(t, filepath.Join(t.TempDir(), "cache"), "1"), "one"); !errors.Is(err, abi.SourceInvalid) {
		t.Errorf("Load = %v; want the error of Prepare", err)
	}
}

// TestSharedOutlivesTrouble checks that the pool keeps shared state if workers fail to start.
func TestSharedOutlivesTrouble(t *testing.T) {
	dir := t.TempDir()
	file, cacheDir := filepath.Join(dir, "source"), filepath.Join(dir, "cache")
	if err := os.WriteFile(file, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := say(t, sharingPool(t, cacheDir, "1", file), "one"); err != nil {
		t.Fatal(err)
	}
	language := sharingLanguage
	shared := *language.Shared
	shared.Key, shared.Files = "1", []string{file}
	language.Shared = &shared
	pool, err := sandbox.New(sandbox.Options{Languages: []sandbox.Language{language}, CacheDir: cacheDir, Command: filepath.Join(dir, "nothing")})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	if _, err := say(t, pool, "one"); !errors.Is(err, abi.Unavailable) {
		t.Fatalf("Load without workers = %v; want unavailable", err)
	}
	if made, err := filepath.Glob(filepath.Join(cacheDir, "*", "*", "made")); err != nil || len(made) != 1 {
		t.Errorf("prepared files = %v, %v; want the same one", made, err)
	}
}

// TestSharedIsNotRemovedOnAClaim runs a hostile source, whose worker reports that shared state is
// damaged. The host must not remove the state, because the state is intact.
func TestSharedIsNotRemovedOnAClaim(t *testing.T) {
	dir := t.TempDir()
	file, cacheDir := filepath.Join(dir, "source"), filepath.Join(dir, "cache")
	if err := os.WriteFile(file, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	pool := sharingPool(t, cacheDir, "1", file)
	if _, err := say(t, pool, "one"); err != nil {
		t.Fatal(err)
	}
	made, err := filepath.Glob(filepath.Join(cacheDir, "*", "*", "made"))
	if err != nil || len(made) != 1 {
		t.Fatalf("prepared files = %v, %v; want one", made, err)
	}
	before, err := os.Stat(made[0])
	if err != nil {
		t.Fatal(err)
	}
	_, err = pool.Engines()[0].Load(t.Context(), engine.Source{Path: "t.sharing", Domain: "two", Code: []byte("lie")})
	if !errors.Is(err, abi.Unavailable) {
		t.Errorf("Load = %v; want unavailable", err)
	}
	if after, err := os.Stat(made[0]); err != nil || !os.SameFile(before, after) {
		t.Errorf("the shared state was replaced or removed: %v", err)
	}
}
