//go:build linux

package sandbox_test

import (
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/enginetest"
	"github.com/toolrun/toolrun/host/engine/enginetest/jstools"
	"github.com/toolrun/toolrun/host/engine/enginetest/wasmtools"
	"github.com/toolrun/toolrun/host/engine/js"
	"github.com/toolrun/toolrun/host/engine/wasm"
	"github.com/toolrun/toolrun/host/sandbox"
)

// languages returns the languages of the workers in these tests.
var languages = []sandbox.Language{
	{New: func(s sandbox.Setup) engine.Engine { return js.New(js.WithPanicLog(s.Panicked)) }},
	{New: func(s sandbox.Setup) engine.Engine {
		return wasm.New(wasm.WithPanicLog(s.Panicked), wasm.WithCache(s.CacheDir))
	}, CacheCode: true, MemoryFiles: true, ExtraBytes: 128 << 20},
	{New: func(s sandbox.Setup) engine.Engine { return probes{s.CacheDir} }, CacheCode: true},
	sharingLanguage,
}

// The indexes of engines in a pool.
const (
	javaScript = iota
	webAssembly
	probing
)

func newPool(t testing.TB, o sandbox.Options) *sandbox.Pool {
	t.Helper()
	o.Languages = languages
	if o.Logger == nil {
		o.Logger = slog.New(slog.NewTextHandler(t.Output(), nil))
	}
	p, err := sandbox.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func TestJavaScript(t *testing.T) {
	enginetest.Run(t, enginetest.Config{Engine: newPool(t, sandbox.Options{}).Engines()[javaScript], Write: jstools.Write})
}

func TestWebAssembly(t *testing.T) {
	e := newPool(t, sandbox.Options{CacheDir: filepath.Join(t.TempDir(), "compiled")}).Engines()[webAssembly]
	enginetest.Run(t, enginetest.Config{Engine: e, Write: wasmtools.Write(t), NoPositions: true})
}
