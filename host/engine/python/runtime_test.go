package python_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/python"
	"github.com/toolrun/toolrun/internal/wasm/wasmtest"
)

var one = engine.Source{Path: "tool.py", Code: []byte("return 1")}

// TestNoRuntime checks the faults of an engine that has no usable interpreter. Each fault must
// contain a hint, but no path on the host.
func TestNoRuntime(t *testing.T) {
	silent, foreign := wasmtest.Module{Pages: 1}, wasmtest.Module{Pages: 1}
	silent.Func("_start", 0)
	foreign.Import("env.system", 1)
	foreign.Func("_start", 0)
	for name, read := range map[string]func() ([]byte, error){
		"none":    nil,
		"no file": func() ([]byte, error) { return os.ReadFile("/secret/place/python.wasm") },
		"a fault": func() ([]byte, error) {
			return nil, abi.Faultf(abi.Unavailable, "it is damaged").WithHint("toolrun python install")
		},
		"empty":      func() ([]byte, error) { return nil, nil },
		"no wasm":    func() ([]byte, error) { return []byte("#!/usr/bin/python3"), nil },
		"no command": func() ([]byte, error) { return new(wasmtest.Module).Bytes(), nil },
		"no WASI":    func() ([]byte, error) { return foreign.Bytes(), nil },
		"no Python":  func() ([]byte, error) { return silent.Bytes(), nil },
	} {
		t.Run(name, func(t *testing.T) {
			var options []python.Option
			if read != nil {
				options = append(options, python.WithRuntime(read))
			}
			e := python.New(options...)
			defer e.Close()
			_, err := e.Load(t.Context(), one)
			f, ok := err.(*abi.Fault)
			want := abi.SourceInvalid
			if name == "a fault" || name == "none" { // other errors become unavailable
				want = abi.Unavailable
			}
			if !ok || f.Code != want || f.File != "tool.py" || !strings.Contains(f.Hint, "toolrun python install") {
				t.Fatalf("Load = %+v; want %s with the file and the hint", err, want)
			}
			if strings.Contains(f.Error(), "/secret") {
				t.Errorf("the fault contains a path of the host: %v", f)
			}
		})
	}
}

// small returns a small module. The engine can compile the module as if it were an interpreter.
func small() []byte {
	m := wasmtest.Module{Pages: 1}
	const loop, none, branchIf, constant, get, set, subtract = 0x03, 0x40, 0x0d, 0x41, 0x23, 0x24, 0x6b
	pointer := byte(m.Global(1 << 15))
	m.Func("_start", 0, get, pointer, constant, 16, subtract, set, pointer, loop, none, constant, 0, branchIf, 0, wasmtest.End)
	m.Data(16, "text")
	return m.Bytes()
}

// TestCache checks that a damaged cache entry is replaced.
func TestCache(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	compile := func(t *testing.T) {
		t.Helper()
		if err := python.Cached(dir, small()); err != nil {
			t.Fatal(err)
		}
	}
	compile(t)
	kept := filesIn(t, dir)
	if len(kept) != 3 { // the module, its machine code, and their checksum
		t.Errorf("the cache contains %d files; want 3", len(kept))
	}
	for file, content := range kept {
		for _, damaged := range [][]byte{nil, content[:len(content)/2], flipped(content, 0), flipped(content, len(content)-1), append(bytes.Clone(content), 0)} {
			if err := os.WriteFile(file, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			compile(t)
			if now := filesIn(t, dir); !bytes.Equal(now[file], content) {
				t.Errorf("%s is still damaged", filepath.Base(file))
			}
		}
	}
}

// TestCompiled checks that engines without a runtime can use a compiled interpreter. If the
// compiled interpreter is damaged, an engine must report the damage.
func TestCompiled(t *testing.T) {
	code := installed(t)
	dir := filepath.Join(t.TempDir(), "compiled")
	if err := python.Compile(t.Context(), code, dir); err != nil {
		t.Fatal(err)
	}
	e := python.New(python.WithCompiled(dir))
	if err := e.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	p, err := e.Load(t.Context(), one)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := p.Run(t.Context(), engine.Input{}, engine.Host{}); err != nil || string(out.Output) != "1" {
		t.Errorf("Run = %s, %v; want 1", out.Output, err)
	}
	if err := errors.Join(p.Close(), e.Close()); err != nil {
		t.Error(err)
	}
	for file, content := range filesIn(t, dir) {
		if err := os.WriteFile(file, flipped(content, len(content)/2), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := python.New(python.WithCompiled(dir)).Start(t.Context()); !errors.Is(err, abi.Unavailable) {
			t.Errorf("Start with a damaged %s = %v; want unavailable", filepath.Base(file), err)
		}
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func flipped(content []byte, at int) []byte {
	damaged := bytes.Clone(content)
	damaged[at] ^= 0xff
	return damaged
}

// TestCacheIsNotUsed checks that the engine does not use a cache folder that is unsafe or does not
// exist.
func TestCacheIsNotUsed(t *testing.T) {
	open, file := t.TempDir(), filepath.Join(t.TempDir(), "file")
	if err := errors.Join(os.Chmod(open, 0o777), os.WriteFile(file, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{open, file, ""} {
		if err := python.Cached(dir, small()); err != nil {
			t.Error(err)
		}
	}
	if found := filesIn(t, open); len(found) != 0 {
		t.Errorf("a folder that others can write to contains %v", found)
	}
}

// TestRewriting compares the version and the hash of the rewritten module with expected values. If
// you change the code and the rewritten module changes, increment rewriteVersion. rewriteVersion is
// part of the cache key. Then update the version and the hash in this test.
func TestRewriting(t *testing.T) {
	const version, want = 3, "954ee72e8288769684967df194d0c9705b19f05ae8c32935637ca41489cc34c9"
	text, err := python.Rewrite(small())
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%x", sha256.Sum256(text)); python.RewriteVersion != version || got != want {
		t.Errorf("version %d produces %s; want version %d with %s", python.RewriteVersion, got, version, want)
	}
}

func filesIn(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	found := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			found[path], err = os.ReadFile(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
