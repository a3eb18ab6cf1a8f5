package languages_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/cell"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/enginetest"
	"github.com/toolrun/toolrun/host/engine/enginetest/pythontools"
	"github.com/toolrun/toolrun/host/engine/python/distribution"
	"github.com/toolrun/toolrun/host/languages"
)

// pythonRuntime is the file of the interpreter: the one that a variable names, or the installed one.
func pythonRuntime(t *testing.T) (file, cache string) {
	t.Helper()
	dir, err := os.UserCacheDir()
	if err != nil {
		t.Skipf("there is no folder for the Python runtime: %v", err)
	}
	cache = filepath.Join(dir, "toolrun")
	if file := os.Getenv("TOOLRUN_PYTHON_WASM"); file != "" {
		return file, cache
	}
	if file, ok := distribution.Find(cache); ok {
		return file, cache
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if file, err = distribution.Install(ctx, cache, nil); err != nil {
		t.Skipf("the Python runtime is not there and npm does not get it (TOOLRUN_PYTHON_WASM may name the file): %v", err)
	}
	return file, cache
}

// pythonEngine is the engine of a pool for Python.
func pythonEngine(t *testing.T, cells cell.Options, options ...languages.Option) engine.Engine {
	t.Helper()
	pool, err := languages.NewPool(cells, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Close() })
	for _, e := range pool.Engines() {
		if e.Name() == "python" {
			return e
		}
	}
	t.Fatal("the pool has no Python")
	return nil
}

// TestPython is the suite of engines for Python in cells.
func TestPython(t *testing.T) {
	file, cache := pythonRuntime(t)
	e := pythonEngine(t, cell.Options{CacheDir: filepath.Join(cache, "cells")}, languages.WithPython(file))
	enginetest.Run(t, enginetest.Config{Engine: e, Write: pythontools.Write})
}

func TestPythonIsMissing(t *testing.T) {
	notThere := filepath.Join(t.TempDir(), "python.wasm")
	for name, options := range map[string][]languages.Option{"none": nil, "no such file": {languages.WithPython(notThere)}} {
		_, err := pythonEngine(t, cell.Options{}, options...).Load(t.Context(), engine.Source{Path: "a.py", Code: []byte("return 1")})
		f, ok := errors.AsType[*abi.Fault](err)
		if !ok || f.Hint == "" || f.Code != abi.SourceInvalid && f.Code != abi.Unavailable {
			t.Errorf("%s: Load = %v; want a fault that says what to do", name, err)
		}
	}
}
