package fuel_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/toolrun/toolrun/internal/wasm/binary"
)

// TestTailCallsAreMiscompiled demonstrates why package binary rejects tail calls. On amd64,
// wazero's compiler overwrites the register of the seventh argument with the address of the
// function and thus leaks the address to the guest. wazero's interpreter is correct. If this test
// fails, wazero has fixed the bug, and tail calls can be allowed.
func TestTailCallsAreMiscompiled(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("only the compiler for amd64 has the bug")
	}
	const parameters = 7
	g, many, arguments := &guest{}, []binary.ValueType{}, []byte{}
	for i := range parameters {
		many = append(many, binary.I64)
		arguments = cat(arguments, num(1000+i), op(0xac)) // i64.extend_i32_s
	}
	results := []binary.ValueType{binary.I64}
	returnCallIndirect := cat([]byte{0x13}, uleb(g.typ(many, results)), []byte{0})
	g.add("run", nil, results, nil, arguments, num(1), returnCallIndirect)
	g.add("last", many, results, nil, get(parameters-1))
	run := func(config wazero.RuntimeConfig) uint64 {
		ctx := context.Background()
		r := wazero.NewRuntimeWithConfig(ctx, config.WithCoreFeatures(api.CoreFeaturesV2|experimental.CoreFeaturesTailCall))
		defer r.Close(ctx)
		m, err := r.Instantiate(ctx, g.bytes())
		if err != nil {
			t.Fatal(err)
		}
		got, err := m.ExportedFunction("run").Call(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return got[0]
	}
	const want = 1000 + parameters - 1
	if got := run(wazero.NewRuntimeConfigInterpreter()); got != want {
		t.Errorf("interpreted: %d; want %d", got, want)
	}
	if got := run(wazero.NewRuntimeConfigCompiler()); got == want {
		t.Errorf("compiled: %d, which is correct; want the wrong result: tail calls can be allowed now", got)
	}
}
