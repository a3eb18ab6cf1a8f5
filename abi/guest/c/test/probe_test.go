package test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/toolrun/toolrun/abi/abitest"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/wasm"
)

// TestProbe holds the binding against the contract.
func TestProbe(t *testing.T) {
	abitest.Guest(t, load(t, "../probe/probe.wasm"))
}

func load(t *testing.T, path string) engine.Program {
	t.Helper()
	code, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	program, err := wasm.New().Load(t.Context(), engine.Source{Path: "probe.wasm", Code: code})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = program.Close() })
	return program
}

// run runs a plug-in that makes no calls of memory.
func run(t *testing.T, program engine.Program, input, given string) engine.Output {
	t.Helper()
	in := engine.Input{Input: json.RawMessage(input), Context: json.RawMessage(given)}
	out, err := program.Run(t.Context(), in, engine.Host{})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
