package python_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/toolrun/toolrun/host/engine/python"
	"github.com/toolrun/toolrun/host/engine/python/distribution/disttest"
)

// installed is the runtime of these tests.
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

// newEngine makes an engine whose panics fail the test.
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

// compiledFolder is where the tests of this package keep the compiled interpreter.
func compiledFolder(t testing.TB) string {
	t.Helper()
	dir, err := cacheFolder()
	if err != nil {
		return t.TempDir()
	}
	return filepath.Join(dir, "compiled")
}
