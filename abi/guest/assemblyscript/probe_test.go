package assemblyscript_test

import (
	"os"
	"testing"

	"github.com/toolrun/toolrun/abi/abitest"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/wasm"
)

// TestProbe checks that the binding follows the ABI.
func TestProbe(t *testing.T) {
	code, err := os.ReadFile("probe/probe.wasm")
	if err != nil {
		t.Fatal(err)
	}
	program, err := wasm.New().Load(t.Context(), engine.Source{Path: "probe.wasm", Code: code})
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	abitest.Guest(t, program)
}
