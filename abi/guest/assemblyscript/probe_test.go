package assemblyscript_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/toolrun/toolrun/abi/abitest"
	"github.com/toolrun/toolrun/abi/conform"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/wasm"
)

// TestProbe holds the binding against the contract.
func TestProbe(t *testing.T) {
	abitest.Guest(t, load(t, "probe/probe.wasm"))
}

// TestConform has the probe pass what every plug-in passes.
func TestConform(t *testing.T) {
	input := json.RawMessage(`{"steps":[{"call":"get_content","store":"prefs"}]}`)
	for _, outcome := range conform.Check(t.Context(), load(t, "probe/probe.wasm"), input) {
		if !outcome.OK {
			t.Errorf("%s: %s", outcome.Name, outcome.Detail)
		}
	}
}

// TestLiterals expects that documents pass through as they are written: numbers with their digits, escapes, spaces.
func TestLiterals(t *testing.T) {
	const input = `{"steps": [], "n":[1.50,9007199254740993,1e2], "s":"\ud83d\ude00 \u00fc ü\/"}`
	const given = `{ "runId":"\u0072"}`
	const want = `{"replies":[],"input":` + input + `,"context":` + given + `}`
	if got := run(t, load(t, "probe/probe.wasm"), input, given); string(got.Output) != want {
		t.Errorf("Run = %s; want %s", got.Output, want)
	}
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
