//go:build linux

package sandbox_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/sandbox"
)

// TestTablesOfOneWorker loads one tool with two operation tables in one worker. Each program must
// use its own table.
func TestTablesOfOneWorker(t *testing.T) {
	js := newPool(t, sandbox.Options{Workers: 1, Spares: -1}).Engines()[javaScript]
	const code = `return memory.probe ? await memory.probe("prefs") : "no probe";`
	load := func(table abi.Table) engine.Program {
		t.Helper()
		p, err := js.Load(t.Context(), engine.Source{Path: "probe.js", Code: []byte(code), Operations: table})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.Close() })
		return p
	}
	with := load(append(abi.Operations(), abi.Operation{Name: "probe", Verb: abi.Read, Params: []abi.Param{{Name: "store", Kind: abi.StoreName}}}))
	without := load(nil)
	host := engine.Host{Call: func(_ context.Context, call abi.Call) (json.RawMessage, error) {
		return json.RawMessage(`"` + call.Op + ` is there"`), nil
	}}
	for _, c := range []struct {
		program engine.Program
		want    string
	}{{with, `"probe is there"`}, {without, `"no probe"`}, {with, `"probe is there"`}} {
		out, err := c.program.Run(t.Context(), engine.Input{}, host)
		if err != nil || string(out.Output) != c.want {
			t.Errorf("Run = %s, %v; want %s", out.Output, err, c.want)
		}
	}
}
