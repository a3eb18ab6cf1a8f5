package wasi_test

import (
	"context"
	"crypto/rand"
	"io"
	"testing"

	"github.com/tetratelabs/wazero"
	wazerowasi "github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/toolrun/toolrun/internal/wasm/wasi"
)

// BenchmarkCalls measures calls in a guest's loop, with this package and with wazero's own
// functions.
func BenchmarkCalls(b *testing.B) {
	for _, bb := range []struct {
		name     string
		function string
		args     []int64
	}{
		{"write", "fd_write", []int64{1, 64, 1, 32}},
		{"monotonic", "clock_time_get", []int64{1, 0, 32}},
		{"realtime", "clock_time_get", []int64{0, 0, 32}},
		{"random", "random_get", []int64{128, 32}},
		{"yield", "sched_yield", nil},
	} {
		code := loop(bb.function, bb.args...)
		b.Run(bb.name+"/toolrun", func(b *testing.B) {
			g := start(b, code, wasi.Config{Log: func(int, []byte) error { return nil }})
			g.put32(64, 200, 20)
			g.Memory().WriteString(200, "a line to be logged\n")
			// The context of a run has a deadline and may also have a value of the host.
			ctx, cancel := context.WithCancel(g.ctx)
			defer cancel()
			b.ResetTimer()
			if _, err := g.ExportedFunction(bb.function).Call(ctx, uint64(b.N)); err != nil {
				b.Fatal(err)
			}
		})
		b.Run(bb.name+"/wazero", func(b *testing.B) {
			ctx := context.Background()
			r := newRuntime(b)
			wazerowasi.MustInstantiate(ctx, r)
			config := wazero.NewModuleConfig().WithStdout(io.Discard).WithSysWalltime().WithSysNanotime().WithRandSource(rand.Reader)
			mod, err := r.InstantiateWithConfig(ctx, code, config)
			if err != nil {
				b.Fatal(err)
			}
			g := &guest{Module: mod}
			g.put32(64, 200, 20)
			g.Memory().WriteString(200, "a line to be logged\n")
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			b.ResetTimer()
			if _, err := mod.ExportedFunction(bb.function).Call(ctx, uint64(b.N)); err != nil {
				b.Fatal(err)
			}
		})
	}
}
