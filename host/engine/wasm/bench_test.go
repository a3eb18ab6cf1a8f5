package wasm_test

import (
	"encoding/json"
	"testing"

	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/enginetest/wasmtools"
)

// BenchmarkLoad loads a 4 MB Go plug-in from the cache.
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

// BenchmarkRun calls an export of the same plug-in in a fresh instance.
func BenchmarkRun(b *testing.B) {
	p, err := newEngine(b).Load(b.Context(), engine.Source{Path: "suite.wasm", Code: wasmtools.Build(b, "suite"), Entry: "sum"})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	for b.Loop() {
		if _, err := p.Run(b.Context(), engine.Input{Input: json.RawMessage(`{"a":1,"b":2}`)}, engine.Host{}); err != nil {
			b.Fatal(err)
		}
	}
}
