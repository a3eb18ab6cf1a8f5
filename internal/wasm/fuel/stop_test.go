package fuel_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"

	"github.com/toolrun/toolrun/internal/wasm/fuel"
)

// TestStop stops guests that would run endlessly or for a very long time, while the garbage
// collector runs. If a guest cannot be stopped, this test hangs.
func TestStop(t *testing.T) {
	for _, c := range []struct {
		name  string
		build func(g *guest)
	}{
		{"empty loop", func(g *guest) { g.add("run", nil, nil, nil, loop(br(0))) }},
		{"nested loops", func(g *guest) { g.add("run", nil, nil, nil, loop(loop(loop(br(1))), br(0))) }},
		{"loop exited and entered", func(g *guest) {
			g.add("run", nil, nil, i32, loop(block(num(3), set(0), loop(get(0), brIf(1), br(0))), br(0)))
		}},
		{"loop with parameters", func(g *guest) {
			typ := g.typ(i32, nil)
			g.add("run", nil, nil, nil, num(1), []byte{0x03}, uleb(typ), br(0), op(endOp))
		}},
		{"table of back edges", func(g *guest) {
			g.add("run", nil, nil, i32, loop(loop(get(0), num(1), op(i32Add), tee(0), num(1), op(0x71), brTable(0, 1, 0))))
		}},
		{"long iterations", func(g *guest) {
			g.add("run", nil, nil, i32, loop(repeat(20_000, get(0), num(3), op(i32Mul), set(0)), br(0)))
		}},
		{"calls without loops", func(g *guest) {
			for i := range 60 {
				g.add(string(rune('!'+i)), nil, nil, nil, call(i+1), call(i+1))
			}
			g.add("end", nil, nil, nil)
			g.add("run", nil, nil, nil, call(0))
		}},
		{"mutual recursion", func(g *guest) {
			both := func(other int) []byte {
				return cat(get(0), ifThen(get(0), num(1), op(i32Sub), call(other), get(0), num(1), op(i32Sub), call(other)))
			}
			g.add("even", i32, nil, nil, both(1))
			g.add("odd", i32, nil, nil, both(0))
			g.add("run", nil, nil, nil, num(64), call(0))
		}},
		{"recursion through the table", func(g *guest) {
			typ := g.typ(nil, nil)
			g.add("run", nil, nil, nil, num(1), callIndirect(typ), num(1), callIndirect(typ))
			g.add("again", nil, nil, nil, num(2), callIndirect(typ), num(2), callIndirect(typ))
			g.add("third", nil, nil, nil, loop(num(3), callIndirect(typ), br(0)))
			g.add("leaf", nil, nil, nil)
		}},
		{"calls to a small function", func(g *guest) {
			g.add("leaf", nil, nil, nil, num(0), op(0x1a))
			g.add("run", nil, nil, nil, loop(repeat(100, call(0)), br(0)))
		}},
		{"fills", func(g *guest) { g.add("run", nil, nil, nil, loop(num(0), num(7), num(65536), fill(), br(0))) }},
		{"copies", func(g *guest) { g.add("run", nil, nil, nil, loop(num(0), num(8), num(65000), copyMemory(), br(0))) }},
		{"growing by nothing", func(g *guest) { g.add("run", nil, nil, nil, loop(num(0), grow(), op(0x1a), br(0))) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := &guest{}
			c.build(g)
			stop(t, g.bytes())
		})
	}
}

func repeat(n int, code ...[]byte) (out []byte) {
	for range n {
		out = append(out, cat(code...)...)
	}
	return out
}

// stop runs a guest and stops it after a few calls to the function "yield".
func stop(t *testing.T, wasm []byte) {
	const times, code = 20, 7
	rewritten, err := fuel.Rewrite(parse(t, wasm), fuel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer collectGarbage()()
	ctx := context.Background()
	r := wazero.NewRuntime(ctx)
	defer r.Close(ctx)
	yields := 0
	refill(t, r, func(api.Module, int64) {
		if yields++; yields == times {
			panic(sys.NewExitError(code))
		}
	})
	m, err := r.Instantiate(ctx, rewritten)
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.ExportedFunction("run").Call(ctx)
	if exit, ok := errors.AsType[*sys.ExitError](err); !ok || exit.ExitCode() != code || yields != times {
		t.Errorf("the guest stopped after %d yields with %v; want exit code %d after %d", yields, err, code, times)
	}
}

// collectGarbage runs the garbage collector in a loop until the returned function is called.
func collectGarbage() (end func()) {
	var stopped atomic.Bool
	var done sync.WaitGroup
	done.Go(func() {
		for !stopped.Load() {
			runtime.GC()
		}
	})
	return func() {
		stopped.Store(true)
		done.Wait()
	}
}
