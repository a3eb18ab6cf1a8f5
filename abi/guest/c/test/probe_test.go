package test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/toolrun/toolrun/abi/abitest"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/wasm"
)

// TestProbe checks that the binding follows the ABI.
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

// run runs a plug-in that makes no memory calls.
func run(t *testing.T, program engine.Program, input, runContext string) engine.Output {
	t.Helper()
	in := engine.Input{Input: json.RawMessage(input), Context: json.RawMessage(runContext)}
	out, err := program.Run(t.Context(), in, engine.Host{})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
