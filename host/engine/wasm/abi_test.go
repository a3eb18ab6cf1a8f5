package wasm_test

import (
	"path/filepath"
	"testing"

	"github.com/toolrun/toolrun/abi/abitest"
	"github.com/toolrun/toolrun/host/engine/wasm"
)

func TestABI(t *testing.T) {
	abitest.Host(t, abitest.Engine(newEngine(t)))
}

// newEngine returns an engine with a cache. If the engine panics, the test fails.
func newEngine(t testing.TB) *wasm.Engine {
	return wasm.New(wasm.WithCache(filepath.Join(t.TempDir(), "cache")),
		wasm.WithPanicLog(func(value any, stack []byte) { t.Errorf("panic: %v\n%s", value, stack) }))
}
