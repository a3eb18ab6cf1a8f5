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

// newEngine makes an engine whose panics fail the test, and which compiles a plug-in once.
func newEngine(t testing.TB) *wasm.Engine {
	return wasm.New(wasm.WithCache(filepath.Join(t.TempDir(), "cache")),
		wasm.WithPanicLog(func(value any, stack []byte) { t.Errorf("panic: %v\n%s", value, stack) }))
}
