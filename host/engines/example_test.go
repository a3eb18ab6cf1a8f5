package engines_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"testing"
	"testing/fstest"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/engines"
	"github.com/toolrun/toolrun/host/sandbox"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// A program calls Main first in main, as these tests do here. In a worker it does not return.
func TestMain(m *testing.M) {
	engines.Main()
	os.Exit(m.Run())
}

// This pool does not start if the machine lacks a layer of isolation. It is shown in docs/explanation/isolation.md.
func ExampleNewPool_require() {
	pool, err := engines.NewPool(sandbox.Options{Require: sandbox.Layers()}) // or sandbox.Baseline(), without cgroup
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
}

func Example() {
	files := fstest.MapFS{
		"app.yaml": {Data: []byte("app: shop\ntools:\n  sum: {source: sum.js}\n")},
		"sum.js":   {Data: []byte("return {sum: input.a + input.b};")},
	}
	declared, problems := app.Load(files, "app.yaml")
	if err := problems.Err(); err != nil {
		fmt.Println(err)
		return
	}
	pool, err := engines.NewPool(sandbox.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer pool.Close()
	h, err := host.Open(context.Background(), host.Options{App: declared, Backend: mem.New(), Engines: pool.Engines()})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer h.Close()
	result, err := h.Run(context.Background(), host.Invocation{Tool: "sum", Input: json.RawMessage(`{"a":1,"b":2}`)})
	fmt.Println(string(result.Output), result.Warnings, err)
	// Output: {"sum":3} [] <nil>
}
