package wasi_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/sys"

	"github.com/toolrun/toolrun/internal/wasm/wasi"
)

// A runtime gets the host module once. Each run has its own System in the context of its call.
func Example() {
	ctx := context.Background()
	r := wazero.NewRuntime(ctx)
	defer r.Close(ctx)
	if err := wasi.Instantiate(ctx, r); err != nil {
		log.Fatal(err)
	}
	guest, err := r.Instantiate(ctx, proxy(onePage)) // the module forwards the following calls to wasi
	if err != nil {
		log.Fatal(err)
	}

	system, err := wasi.New(wasi.Config{Log: func(stream int, line []byte) error {
		fmt.Printf("stream %d: %s\n", stream, line)
		return nil
	}})
	if err != nil {
		log.Fatal(err)
	}
	ctx = wasi.With(ctx, system)
	guest.Memory().Write(0, []byte{8, 0, 0, 0, 12, 0, 0, 0}) // the address and the length of the text
	guest.Memory().WriteString(8, "hello\nno end")
	_, _ = guest.ExportedFunction("fd_write").Call(ctx, wasi.Stdout, 0, 1, 100)
	_, err = guest.ExportedFunction("proc_exit").Call(ctx, 0)
	_ = system.Flush()
	fmt.Println(errors.Is(err, sys.NewExitError(0)), system.Err())

	// Output:
	// stream 1: hello
	// stream 1: no end
	// true <nil>
}
