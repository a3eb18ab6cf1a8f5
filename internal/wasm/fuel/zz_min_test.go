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
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"golang.org/x/sys/unix"

	"github.com/toolrun/toolrun/internal/wasm/binary"
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

func TestZZPython(t *testing.T) {
	file := os.Getenv("ZZPY")
	if file == "" {
		return
	}
	runtime.LockOSThread()
	ctx := context.Background()
	b, _ := os.ReadFile(file)
	m, err := binary.Parse(b, binary.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	s := time.Now()
	re, err := fuel.Rewrite(m, fuel.Options{})
	fmt.Println("rewrite", time.Since(s), len(b), len(re))
	if err != nil {
		t.Fatal(err)
	}
	scripts := map[string]string{
		"fib":  "def f(n):\n return n if n<2 else f(n-1)+f(n-2)\nf(25)",
		"json": "import json\nd={'a':list(range(1000)),'b':'x'*1000}\nfor i in range(300): json.loads(json.dumps(d))",
		"re":   "import re\nfor i in range(3000): re.findall(r'(\\w+)@(\\w+)', 'foo@bar some text here x@y '*20)",
		"empty": "pass",
	}
	yields := 0
	for name, script := range scripts {
		best := [2]time.Duration{1 << 60, 1 << 60}
		var rts [2]wazero.Runtime
		var cms [2]wazero.CompiledModule
		cache := wazero.NewCompilationCache()
		for i, w := range [][]byte{b, re} {
			r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigCompiler().WithCompilationCache(cache))
			defer r.Close(ctx)
			wasi_snapshot_preview1.MustInstantiate(ctx, r)
			refill(t, r, func(api.Module, int64) { yields++ })
			s := time.Now()
			c, err := r.CompileModule(ctx, w)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Println("compile", time.Since(s))
			rts[i], cms[i] = r, c
		}
		for range 8 {
			for i := range 2 {
				s := cpu()
				mod, err := rts[i].InstantiateModule(ctx, cms[i], wazero.NewModuleConfig().WithName("").WithStderr(os.Stderr).WithArgs("python", "-S", "-c", script))
				if err != nil {
					t.Fatal(err)
				}
				mod.Close(ctx)
				best[i] = min(best[i], cpu()-s)
			}
		}
		fmt.Printf("python %-6s original %8v fuel %8v  %+.1f%% yields %d\n", name, best[0], best[1], 100*(float64(best[1])/float64(best[0])-1), yields/8)
		yields = 0
	}
}
