package wasmtools_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/enginetest/wasmtools"
	"github.com/toolrun/toolrun/host/engine/wasm"
)

// A plug-in that recurses without end must exceed the stack limit.
func Example() {
	program, err := wasm.New().Load(context.Background(), engine.Source{Path: "recursive.wasm", Code: []byte(wasmtools.Recursive)})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer program.Close()
	_, err = program.Run(context.Background(), engine.Input{}, engine.Host{})
	fmt.Println(errors.Is(err, abi.StackLimit))
	// Output: true
}
