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

// A program calls Main at the beginning of its function main. The tests of this package call Main
// in TestMain. In a worker, Main does not return.
func TestMain(m *testing.M) {
	engines.Main()
	os.Exit(m.Run())
}

// The pool does not start if the machine lacks a layer of isolation. The page
// docs/explanation/isolation.md shows the code of this example.
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
