package host_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
)

// OnState must be called with the run's id before the host does any work. After this call, OnState
// must be called for each state of the run.
func TestOnState(t *testing.T) {
	h := openTool(t, `console.log("runs"); return 1`)
	var heard []string
	inv := host.Invocation{
		OnState: func(id string, state host.RunState) { heard = append(heard, id[:4]+" "+string(state)) },
		OnLog:   func(int, abi.LogLine) { heard = append(heard, "log") },
	}
	if _, err := run(h, inv); err != nil {
		t.Fatal(err)
	}
	if want := []string{"run_ queued", "run_ running", "log"}; !slices.Equal(heard, want) {
		t.Errorf("states = %q; want %q", heard, want)
	}
	heard, inv.Tool = nil, "nothing"
	if _, err := run(h, inv); !errors.Is(err, abi.NotFound) || strings.Join(heard, ",") != "run_ queued" {
		t.Errorf("an unknown tool: %v, states %q", err, heard)
	}
}
