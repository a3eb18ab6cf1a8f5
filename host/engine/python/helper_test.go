package python_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/toolrun/toolrun/host/engine/python"
	"github.com/toolrun/toolrun/host/engine/python/distribution/disttest"
)

// installed returns the runtime for these tests.
func installed(t testing.TB) []byte {
	t.Helper()
	code, err := os.ReadFile(disttest.File(t))
	if err != nil {
		t.Fatal(err)
	}
	return code
}

func cacheFolder() (string, error) {
	dir, err := os.UserCacheDir()
	return filepath.Join(dir, "toolrun"), err
}

// shared is the engine for all tests that do not change their engine. The tests share this engine,
// because it takes half a second to start an engine. shared runs until the process ends.
var shared struct {
	start  sync.Once
	engine *python.Engine

	mu     sync.Mutex
	panics []string // of the current test
}

// sharedEngine returns the shared engine. If the engine panics, the current test fails.
func sharedEngine(t testing.TB) *python.Engine {
	t.Helper()
	file := disttest.File(t)
	shared.start.Do(func() {
		shared.engine = python.New(
			python.WithRuntime(func() ([]byte, error) { return os.ReadFile(file) }),
			python.WithCache(compiledFolder(t)),
			python.WithPanicLog(func(value any, stack []byte) {
				shared.mu.Lock()
				defer shared.mu.Unlock()
				shared.panics = append(shared.panics, fmt.Sprintf("%v\n%s", value, stack))
			}),
		)
	})
	t.Cleanup(func() {
		shared.mu.Lock()
		defer shared.mu.Unlock()
		for _, text := range shared.panics {
			t.Errorf("panic: %s", text)
		}
		shared.panics = nil
	})
	return shared.engine
}

// newEngine returns an engine for a single test. If the engine panics, the test fails.
func newEngine(t testing.TB, options ...python.Option) *python.Engine {
	t.Helper()
	code := installed(t)
	options = append([]python.Option{
		python.WithRuntime(func() ([]byte, error) { return code, nil }),
		python.WithCache(compiledFolder(t)),
		python.WithPanicLog(func(value any, stack []byte) { t.Errorf("panic: %v\n%s", value, stack) }),
	}, options...)
	e := python.New(options...)
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// compiledFolder returns the folder in which the tests of this package cache the compiled
// interpreter.
func compiledFolder(t testing.TB) string {
	t.Helper()
	dir, err := cacheFolder()
	if err != nil {
		return t.TempDir()
	}
	return filepath.Join(dir, "compiled")
}
