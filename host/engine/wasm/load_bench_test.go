package wasm_test

import (
	"testing"

	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/enginetest/wasmtools"
)

// BenchmarkLoad loads a plug-in of Go, of 4 MB, that is in the cache.
func BenchmarkLoad(b *testing.B) {
	code := wasmtools.Build(b, "suite")
	e := newEngine(b)
	for b.Loop() {
		p, err := e.Load(b.Context(), engine.Source{Path: "suite.wasm", Code: code, Entry: "sum"})
		if err != nil {
			b.Fatal(err)
		}
		if err := p.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
