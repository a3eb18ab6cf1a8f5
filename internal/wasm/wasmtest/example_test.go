package wasmtest_test

import (
	"fmt"

	"github.com/toolrun/toolrun/internal/wasm/binary"
	"github.com/toolrun/toolrun/internal/wasm/wasmtest"
)

func Example() {
	m := wasmtest.Module{Pages: 1}
	log := m.Import("toolrun.log", 3)
	m.Data(16, "hello")
	m.Func("toolrun_run", 1, wasmtest.Call(log, 1, 16, 5)...)
	read, err := binary.Parse(m.Bytes(), binary.Limits{})
	fmt.Println(read.Imports[0].Name, read.Exports[1].Name, err)
	// Output: log toolrun_run <nil>
}
