package wasm_test

import (
	"testing"

	"github.com/toolrun/toolrun/host/engine/enginetest"
	"github.com/toolrun/toolrun/host/engine/enginetest/wasmtools"
)

func TestWebAssemblyEngine(t *testing.T) {
	e, write := newEngine(t), wasmtools.Write(t)
	source, _ := write(enginetest.Sum)
	keep, err := e.Load(t.Context(), source) // keeps the compiled module in memory
	if err != nil {
		t.Fatal(err)
	}
	defer keep.Close()
	enginetest.Run(t, enginetest.Config{Engine: e, Write: write, NoPositions: true})
}
