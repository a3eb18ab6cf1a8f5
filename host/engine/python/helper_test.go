package python_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/toolrun/toolrun/host/engine/python"
	"github.com/toolrun/toolrun/host/engine/python/distribution"
)

// runtimeVariable names a file that holds the runtime.
const runtimeVariable = "TOOLRUN_PYTHON_WASM"

// installed finds the runtime, or installs it where toolrun itself would.
var installed = sync.OnceValues(func() ([]byte, error) {
	if file := os.Getenv(runtimeVariable); file != "" {
		return os.ReadFile(file)
	}
	dir, err := cacheFolder()
	if err != nil {
		return nil, err
	}
	file, ok := distribution.Find(dir)
	if !ok {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		if file, err = distribution.Install(ctx, dir, nil); err != nil {
			return nil, err
		}
	}
	return distribution.Read(file)
})

func cacheFolder() (string, error) {
	dir, err := os.UserCacheDir()
	return filepath.Join(dir, "toolrun"), err
}

// newEngine makes an engine whose panics fail the test.
func newEngine(t testing.TB, options ...python.Option) *python.Engine {
	t.Helper()
	code, err := installed()
	if err != nil {
		t.Skipf("the Python runtime is not there and npm does not get it (%s may name the file): %v", runtimeVariable, err)
	}
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

// compiledFolder is where the tests of this package keep the compiled interpreter.
func compiledFolder(t testing.TB) string {
	t.Helper()
	dir, err := cacheFolder()
	if err != nil {
		return t.TempDir()
	}
	return filepath.Join(dir, "compiled")
}
