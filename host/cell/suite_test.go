//go:build linux

package cell_test

import (
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/toolrun/toolrun/host/cell"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/enginetest"
	"github.com/toolrun/toolrun/host/engine/enginetest/jstools"
	"github.com/toolrun/toolrun/host/engine/enginetest/wasmtools"
	"github.com/toolrun/toolrun/host/engine/js"
	"github.com/toolrun/toolrun/host/engine/wasm"
)

// languages are what the cells of these tests run.
var languages = []cell.Language{
	{New: func(s cell.Setup) engine.Engine { return js.New(js.WithPanicLog(s.Panicked)) }},
	{New: func(s cell.Setup) engine.Engine {
		return wasm.New(wasm.WithPanicLog(s.Panicked), wasm.WithCache(s.CacheDir))
	}, Artefacts: true, MemoryFiles: true, ExtraBytes: 128 << 20},
	{New: func(s cell.Setup) engine.Engine { return probes{s.CacheDir} }, Artefacts: true},
	sharingLanguage,
}

// Where a pool has which engine.
const (
	javaScript = iota
	webAssembly
	probing
)

func newPool(t testing.TB, o cell.Options) *cell.Pool {
	t.Helper()
	o.Languages = languages
	if o.Logger == nil {
		o.Logger = slog.New(slog.NewTextHandler(t.Output(), nil))
	}
	p, err := cell.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func TestJavaScript(t *testing.T) {
	enginetest.Run(t, enginetest.Config{Engine: newPool(t, cell.Options{}).Engines()[javaScript], Write: jstools.Write})
}

func TestWebAssembly(t *testing.T) {
	e := newPool(t, cell.Options{CacheDir: filepath.Join(t.TempDir(), "compiled")}).Engines()[webAssembly]
	enginetest.Run(t, enginetest.Config{Engine: e, Write: wasmtools.Write(t), NoPlaces: true})
}
