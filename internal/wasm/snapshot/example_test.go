package snapshot_test

import (
	"context"
	"fmt"
	"log"

	"github.com/tetratelabs/wazero"

	"github.com/toolrun/toolrun/internal/wasm/binary"
	"github.com/toolrun/toolrun/internal/wasm/snapshot"
)

// slow is a module whose _initialize sets a global to 41. The module's function "next" increments
// the global and returns the new value.
var slow = module(
	types,
	section(binary.FunctionSection, []byte{typeNothing}, []byte{typeGet}),
	section(binary.MemorySection, []byte{0, 1}),
	section(binary.GlobalSection, []byte{0x7f, 1, 0x41, 0, 0x0b}),
	section(binary.ExportSection, join(name("_initialize"), []byte{0, 0}), join(name("next"), []byte{0, 1})),
	section(binary.CodeSection, body(0x41, 41, 0x24, 0), body(0x23, 0, 0x41, 1, 0x6a, 0x24, 0, 0x23, 0)),
)

// A module is rewritten, compiled and initialized once. Each run gets an instance that continues
// from the initialized state.
func Example() {
	ctx := context.Background()
	runtime := wazero.NewRuntime(ctx)
	defer runtime.Close(ctx)

	parsed, err := binary.Parse(slow, binary.Limits{})
	if err != nil {
		log.Fatal(err)
	}
	rewritten, err := snapshot.Rewrite(parsed)
	if err != nil {
		log.Fatal(err)
	}
	compiled, err := runtime.CompileModule(ctx, rewritten.Binary)
	if err != nil {
		log.Fatal(err)
	}
	base, err := snapshot.Load(runtime, compiled, rewritten, snapshot.Options{MemoryBytes: 1 << 20})
	if err != nil {
		log.Fatal(err)
	}
	defer base.Close(ctx)

	var witness snapshot.NondeterminismProbe // provides clocks and random bytes to the guest
	image, err := snapshot.CaptureInitialized(ctx, base, &witness)
	if err != nil {
		log.Fatal(err) // if the error is ErrVaries, use base and call Initialize on each instance
	}
	defer image.Close(ctx)

	for range 2 {
		instance, err := image.Restore(ctx, nil)
		if err != nil {
			log.Fatal(err)
		}
		results, err := instance.Guest().ExportedFunction("next").Call(ctx)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(results[0])
		instance.Close(ctx)
	}
	// Output:
	// 42
	// 42
}
