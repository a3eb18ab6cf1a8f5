package conformance_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/abi/conformance"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/wasm"
	"github.com/toolrun/toolrun/internal/wasm/wasmtest"
)

// reader returns a plug-in that reads a record. If the read fails, the plug-in executes the given
// code.
func reader(failing ...byte) []byte {
	m := &wasmtest.Module{Pages: 1}
	get := m.Import("memory.get_content", 6)
	m.Data(16, conformance.Store)
	m.Func("toolrun_abi_1", 0)
	code := append(wasmtest.Call(get, 16, int32(len(conformance.Store)), 0, 0, 0, 0), wasmtest.Const(0)...)
	code = append(append(append(code, wasmtest.I32LtS, wasmtest.If, wasmtest.Empty), failing...), wasmtest.End)
	m.Func("toolrun_run", 1, append(code, wasmtest.Const(0)...)...)
	return m.Bytes()
}

func load(code []byte) (engine.Program, error) {
	return wasm.New().Load(context.Background(), engine.Source{Path: "plugin.wasm", Code: code})
}

func Example() {
	p, err := load(reader())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Close()
	passed := 0
	for _, outcome := range conformance.Check(context.Background(), p, abi.Operations(), json.RawMessage(`{}`)) {
		if outcome.OK {
			passed++
		}
	}
	fmt.Println(passed, "checks pass")
	// Output: 34 checks pass
}

// TestCheckFindsTraps runs Check on a plug-in that traps if a memory call fails. The checks of
// faults must fail, and all other checks must pass.
func TestCheckFindsTraps(t *testing.T) {
	p, err := load(reader(wasmtest.Unreachable))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	failed := 0
	for _, outcome := range conformance.Check(t.Context(), p, abi.Operations(), json.RawMessage(`{}`)) {
		isFault := strings.HasPrefix(outcome.Name, "handles the fault ")
		if outcome.OK == isFault {
			t.Errorf("%s: OK = %v, %s", outcome.Name, outcome.OK, outcome.Detail)
		}
		if !outcome.OK {
			failed++
		}
	}
	if failed != len(abi.Codes()) {
		t.Errorf("%d checks fail; want one for each of %d faults", failed, len(abi.Codes()))
	}
}

// TestCheckFindsNondeterminism runs Check on a plug-in whose output differs in each run.
func TestCheckFindsNondeterminism(t *testing.T) {
	m := &wasmtest.Module{Pages: 1}
	write := m.Import("toolrun.output_write", 2)
	m.Data(16, "12")
	m.Func("toolrun_abi_1", 0)
	m.Func("toolrun_run", 1, wasmtest.Call(write, 16, 2)...)
	p, err := load(m.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	runs := 0
	for _, outcome := range conformance.Check(t.Context(), varying{p, &runs}, abi.Operations(), json.RawMessage(`{}`)) {
		if outcome.OK == (outcome.Name == "is deterministic") {
			t.Errorf("%s: OK = %v, %s", outcome.Name, outcome.OK, outcome.Detail)
		}
	}
}

// varying is an engine.Program whose output is the number of the run.
type varying struct {
	engine.Program
	runs *int
}

func (v varying) Run(ctx context.Context, in engine.Input, host engine.Host) (engine.Output, error) {
	out, err := v.Program.Run(ctx, in, host)
	*v.runs++
	out.Output = json.RawMessage(fmt.Sprint(*v.runs))
	return out, err
}
