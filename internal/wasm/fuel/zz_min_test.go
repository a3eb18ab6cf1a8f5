package fuel_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"golang.org/x/sys/unix"

	"github.com/toolrun/toolrun/internal/wasm/fuel"
)

func cpu() time.Duration {
	var ts unix.Timespec
	unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts)
	return time.Duration(ts.Nano())
}

func TestZZMin(t *testing.T) {
	if os.Getenv("ZZ") == "" {
		return
	}
	runtime.LockOSThread()
	ctx := context.Background()
	for _, g := range []struct {
		name string
		wasm []byte
		arg  uint64
	}{
		{"loop", bareLoop(), 3_000_000}, {"fib", fib(), 24}, {"sum", memorySum(), 100}, {"mix", mix(), 1_000_000}, {"fill", fills(), 50_000},
	} {
		rewritten, err := fuel.Rewrite(parse(t, g.wasm), fuel.Options{})
		if err != nil {
			t.Fatal(err)
		}
		os.WriteFile("/tmp/fuelasm/"+g.name+".orig.wasm", g.wasm, 0o644)
		os.WriteFile("/tmp/fuelasm/"+g.name+".fuel.wasm", rewritten, 0o644)
		var fs []api.Function
		for _, w := range [][]byte{g.wasm, rewritten} {
			r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigCompiler())
			defer r.Close(ctx)
			refill(t, r, nil)
			m, err := r.Instantiate(ctx, w)
			if err != nil {
				t.Fatal(err)
			}
			fs = append(fs, m.ExportedFunction("run"))
		}
		best := [2]time.Duration{1 << 60, 1 << 60}
		for range 60 {
			for i, f := range fs {
				s := cpu()
				f.Call(ctx, g.arg)
				best[i] = min(best[i], cpu()-s)
			}
		}
		fmt.Printf("%-6s original %8v fuel %8v  %+.1f%%\n", g.name, best[0], best[1], 100*(float64(best[1])/float64(best[0])-1))
	}
}
