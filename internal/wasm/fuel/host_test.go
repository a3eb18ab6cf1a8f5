package fuel_test

import (
	"context"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/toolrun/toolrun/internal/wasm/fuel"
)

// refill adds the host module for a rewritten guest to r. Unless onYield is nil, the module calls
// onYield before it refills the fuel.
func refill(t testing.TB, r wazero.Runtime, onYield func(guest api.Module, left int64)) {
	t.Helper()
	_, err := r.NewHostModuleBuilder("toolrun:fuel").NewFunctionBuilder().
		WithGoModuleFunction(api.GoModuleFunc(func(_ context.Context, guest api.Module, stack []uint64) {
			if onYield != nil {
				onYield(guest, int64(stack[0]))
			}
			stack[0] = fuel.Slice
		}), []api.ValueType{api.ValueTypeI64}, []api.ValueType{api.ValueTypeI64}).
		Export("yield").Instantiate(context.Background())
	if err != nil {
		t.Fatal(err)
	}
}
