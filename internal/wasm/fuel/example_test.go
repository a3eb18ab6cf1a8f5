package fuel_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"

	"github.com/toolrun/toolrun/internal/wasm/binary"
	"github.com/toolrun/toolrun/internal/wasm/fuel"
)

// A guest in an endless loop is stopped at its deadline. yield checks the context. After the
// deadline, yield closes the guest with an exit code.
func Example() {
	// (module (func (export "run") (loop (br 0))))
	spin := []byte("\x00asm\x01\x00\x00\x00\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00\x07\x07\x01\x03run\x00\x00\x0a\x09\x01\x07\x00\x03\x40\x0c\x00\x0b\x0b")

	module, err := binary.Parse(spin, binary.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	rewritten, err := fuel.Rewrite(module, fuel.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}

	const timeout = 124
	yield := func(ctx context.Context, guest api.Module, left int64) int64 {
		if ctx.Err() != nil {
			guest.CloseWithExitCode(ctx, timeout)
			panic(sys.NewExitError(timeout))
		}
		return fuel.Slice
	}

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	runtime := wazero.NewRuntime(ctx)
	defer runtime.Close(context.Background())
	if _, err := runtime.NewHostModuleBuilder("toolrun:fuel").NewFunctionBuilder().WithFunc(yield).Export("yield").Instantiate(ctx); err != nil {
		fmt.Println(err)
		return
	}
	guest, err := runtime.Instantiate(ctx, rewritten)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = guest.ExportedFunction("run").Call(ctx)
	if exit, ok := errors.AsType[*sys.ExitError](err); ok && exit.ExitCode() == timeout {
		fmt.Println("stopped:", ctx.Err())
	}
	// Output: stopped: context deadline exceeded
}
