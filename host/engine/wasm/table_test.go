package wasm_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/enginetest"
	"github.com/toolrun/toolrun/host/engine/wasm"
	"github.com/toolrun/toolrun/internal/wasm/wasmtest"
)

// TestTablesOfOnePlugin loads one plug-in several times concurrently. Each program has a different
// operation table and must use its own table.
func TestTablesOfOnePlugin(t *testing.T) {
	m := &wasmtest.Module{Pages: 1}
	probe := m.Import("memory.probe", 2)
	m.Data(16, "prefs")
	m.Func("toolrun_abi_1", 0)
	m.Func("toolrun_run", 1, append(append(wasmtest.Call(probe, 16, 5), wasmtest.Drop), wasmtest.Const(0)...)...)
	e, code := wasm.New(), m.Bytes()
	load := func(params ...abi.Param) (engine.Program, error) {
		table := append(abi.Operations(), abi.Operation{Name: "probe", Verb: abi.Read, Params: params})
		p, err := e.Load(t.Context(), engine.Source{Path: "p.wasm", Code: code, Operations: table})
		if err == nil {
			t.Cleanup(func() { _ = p.Close() })
		}
		return p, err
	}
	call := func(p engine.Program) string {
		t.Helper()
		memory := enginetest.NewMemory(nil)
		if _, err := p.Run(t.Context(), engine.Input{}, memory.Host()); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(memory.Calls())
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	store, err := load(abi.Param{Name: "store", Kind: abi.StoreName})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := load(abi.Param{Name: "value", Kind: abi.JSON}, abi.Param{Name: "more", Kind: abi.JSON}); !errors.Is(err, abi.SourceInvalid) {
		t.Errorf("Load with another number of parameters = %v; want source_invalid", err)
	}
	if _, err := e.Load(t.Context(), engine.Source{Path: "p.wasm", Code: code}); !errors.Is(err, abi.SourceInvalid) {
		t.Errorf("Load without the operation = %v; want source_invalid", err)
	}
	if got, want := call(store), `[{"op":"probe","args":["prefs"]}]`; got != want {
		t.Errorf("calls = %s; want %s", got, want)
	}
}
