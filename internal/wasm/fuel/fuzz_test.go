package fuel_test

import (
	"context"
	"os"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/toolrun/toolrun/internal/wasm/binary"
	"github.com/toolrun/toolrun/internal/wasm/fuel"
)

// FuzzRewrite checks that Parse accepts a rewritten module. If the original module compiles, the
// rewritten module must also compile.
func FuzzRewrite(f *testing.F) {
	for _, wasm := range [][]byte{bareLoop(), fib(), memorySum(), mix(), fills()} {
		f.Add(wasm)
	}
	for _, file := range suiteModules(f) {
		if wasm, err := os.ReadFile(file); err == nil && len(wasm) < 1<<10 {
			f.Add(wasm)
		}
	}
	// The limits are small, so that a missing limit makes the test fail instead of making it slow.
	limits := binary.Limits{ModuleBytes: 1 << 14, AllLocals: 10_000, PassedValues: 5_000, LocalsTimesBlocks: 5_000, Blocks: 500, TableElements: 10_000, MemoryPages: 16}
	f.Fuzz(func(t *testing.T, wasm []byte) {
		m, err := binary.Parse(wasm, limits)
		if err != nil {
			return
		}
		rewritten, err := fuel.Rewrite(m, fuel.Options{})
		if err != nil {
			return
		}
		if _, err := binary.Parse(rewritten, binary.Limits{}); err != nil {
			t.Fatalf("Parse of the rewritten module: %v", err)
		}
		ctx := context.Background()
		r := wazero.NewRuntime(ctx)
		defer r.Close(ctx)
		if _, err := r.CompileModule(ctx, wasm); err != nil {
			return
		}
		if _, err := r.CompileModule(ctx, rewritten); err != nil {
			t.Fatalf("the rewritten module does not compile: %v", err)
		}
	})
}
