package fuel_test

import (
	"context"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/toolrun/toolrun/internal/wasm/fuel"
)

// BenchmarkGuests runs CPU-bound guests in three forms: unchanged, rewritten, and with wazero's own
// mechanism for stopping guests.
func BenchmarkGuests(b *testing.B) {
	for _, g := range []struct {
		name string
		wasm []byte
		arg  uint64
	}{
		{"loop", bareLoop(), 5_000_000},
		{"fib", fib(), 27},
		{"sum", memorySum(), 200},
		{"mix", mix(), 1_000_000},
		{"fill", fills(), 100_000},
	} {
		b.Run(g.name+"/original", func(b *testing.B) { benchmark(b, g.wasm, g.arg, false) })
		b.Run(g.name+"/fuel", func(b *testing.B) {
			rewritten, err := fuel.Rewrite(parse(b, g.wasm), fuel.Options{})
			if err != nil {
				b.Fatal(err)
			}
			benchmark(b, rewritten, g.arg, false)
		})
		b.Run(g.name+"/close-on-done", func(b *testing.B) { benchmark(b, g.wasm, g.arg, true) })
	}
}

func benchmark(b *testing.B, wasm []byte, arg uint64, closeOnDone bool) {
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigCompiler().WithCloseOnContextDone(closeOnDone))
	defer r.Close(ctx)
	refill(b, r, nil)
	m, err := r.Instantiate(ctx, wasm)
	if err != nil {
		b.Fatal(err)
	}
	run := m.ExportedFunction("run")
	for b.Loop() {
		if _, err := run.Call(ctx, arg); err != nil {
			b.Fatal(err)
		}
	}
}

// bareLoop decrements its argument to zero.
func bareLoop() []byte {
	g := &guest{}
	g.add("run", i32, i32, nil, countdown(0), get(0))
	return g.bytes()
}

func fib() []byte {
	g := &guest{}
	g.add("run", i32, i32, nil,
		get(0), num(2), op(i32LtU), ifThen(get(0), op(0x0f)),
		get(0), num(1), op(i32Sub), call(0), get(0), num(2), op(i32Sub), call(0), op(i32Add))
	return g.bytes()
}

// memorySum adds up the bytes of a page. The argument of memorySum is the number of repetitions.
func memorySum() []byte {
	g := &guest{}
	locals := append(i32, i32...)
	g.add("run", i32, i32, locals, countdown(0,
		num(65536), set(1),
		loop(get(1), num(4), op(i32Sub), tee(1), load(), get(2), op(i32Add), set(2), get(1), brIf(0))),
		get(2))
	return g.bytes()
}

// mix resembles one round of a hash function.
func mix() []byte {
	g := &guest{}
	locals := append(append(append(i32, i32...), i32...), i32...)
	g.add("run", i32, i32, locals, countdown(0,
		get(1), num(5), op(i32Rotl), get(2), op(i32Xor), get(3), op(i32Add), get(0), op(i32Add), num(0x5a827999), op(i32Add), set(4),
		get(3), set(1), get(2), num(30), op(i32Rotl), set(3), get(1), get(4), op(i32Xor), set(2), get(4), set(1)),
		get(1))
	return g.bytes()
}

// fills repeatedly fills 64 bytes. The argument of fills is the number of repetitions.
func fills() []byte {
	g := &guest{}
	g.add("run", i32, i32, nil, countdown(0, num(128), get(0), num(64), fill()), get(0))
	return g.bytes()
}
