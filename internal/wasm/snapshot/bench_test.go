package snapshot_test

import (
	"context"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/toolrun/toolrun/internal/wasm/snapshot"
	"github.com/toolrun/toolrun/internal/wasm/wasi"
)

// BenchmarkFresh runs a Go guest without this package: it instantiates, initializes and calls the
// guest.
func BenchmarkFresh(b *testing.B) {
	r := newRuntime(b)
	c, err := r.CompileModule(context.Background(), goGuest(b, "writer"))
	if err != nil {
		b.Fatal(err)
	}
	config := wazero.NewModuleConfig().WithName("").WithStartFunctions("_initialize")
	for b.Loop() {
		ctx := system(b, wasi.Config{})
		guest, err := r.InstantiateModule(ctx, c, config)
		if err != nil {
			b.Fatal(err)
		}
		call(b, ctx, guest, "push", 1)
		guest.Close(ctx)
	}
}

// BenchmarkInitialized restores the image of the data segments and initializes the guest in every
// run.
func BenchmarkInitialized(b *testing.B) {
	base := load(b, newRuntime(b), goGuest(b, "writer"), snapshot.Options{})
	for b.Loop() {
		ctx := system(b, wasi.Config{})
		in := restore(b, base)
		if err := in.Initialize(ctx); err != nil {
			b.Fatal(err)
		}
		call(b, ctx, in.Guest(), "push", 1)
		closeInstance(b, in)
	}
}

// BenchmarkRestored restores the image of an initialized guest in every run.
func BenchmarkRestored(b *testing.B) {
	image := take(b, newRuntime(b), goGuest(b, "writer"), snapshot.Options{})
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			ctx := system(b, wasi.Config{})
			in := restore(b, image)
			call(b, ctx, in.Guest(), "push", 1)
			closeInstance(b, in)
		}
	})
}

// BenchmarkGrown runs a guest whose memory grows, so its instance cannot be reused.
func BenchmarkGrown(b *testing.B) {
	image := take(b, newRuntime(b), goGuest(b, "writer"), snapshot.Options{})
	for b.Loop() {
		ctx := system(b, wasi.Config{})
		in := restore(b, image)
		call(b, ctx, in.Guest(), "push", 1)
		in.Guest().Memory().Grow(1)
		closeInstance(b, in)
	}
}
