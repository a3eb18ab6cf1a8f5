package engines_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/enginetest"
	"github.com/toolrun/toolrun/host/engine/enginetest/pythontools"
	"github.com/toolrun/toolrun/host/engine/python/distribution/disttest"
	"github.com/toolrun/toolrun/host/engines"
	"github.com/toolrun/toolrun/host/sandbox"
)

// pythonEngine returns a pool's engine for Python.
func pythonEngine(t *testing.T, workers sandbox.Options, options ...engines.Option) engine.Engine {
	t.Helper()
	pool, err := engines.NewPool(workers, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Close() })
	for _, e := range pool.Engines() {
		if e.Info().Name == "python" {
			return e
		}
	}
	t.Fatal("the pool has no Python")
	return nil
}

// TestPython runs the conformance suite for engines with the Python engine. The suite's tools run
// in workers.
func TestPython(t *testing.T) {
	cache, err := os.UserCacheDir() // the toolrun command uses the same folder
	if err != nil {
		t.Skipf("this user has no cache folder: %v", err)
	}
	e := pythonEngine(t, sandbox.Options{CacheDir: filepath.Join(cache, "toolrun", "cells")}, engines.WithPython(disttest.File(t)))
	enginetest.Run(t, enginetest.Config{Engine: e, Write: pythontools.Write})
}

func TestPythonIsMissing(t *testing.T) {
	notThere := filepath.Join(t.TempDir(), "python.wasm")
	for name, options := range map[string][]engines.Option{"none": nil, "no such file": {engines.WithPython(notThere)}} {
		_, err := pythonEngine(t, sandbox.Options{}, options...).Load(t.Context(), engine.Source{Path: "a.py", Code: []byte("return 1")})
		f, ok := errors.AsType[*abi.Fault](err)
		if !ok || f.Hint == "" || f.Code != abi.SourceInvalid && f.Code != abi.Unavailable {
			t.Errorf("%s: Load = %v; want a fault with a hint", name, err)
		}
	}
}
