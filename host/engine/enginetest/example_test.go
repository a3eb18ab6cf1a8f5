package enginetest_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/enginetest"
	"github.com/toolrun/toolrun/host/engine/js"
)

// An engine that is called through a pipe has the same interface and returns the same output.
func ExamplePipe() {
	memory := enginetest.NewMemory(nil)
	for _, e := range []engine.Engine{js.New(), enginetest.Pipe(js.New())} {
		program, err := e.Load(context.Background(), engine.Source{Path: "count.js", Code: []byte(`
			const n = ((await memory.get_content('counter'))?.n ?? 0) + input.by;
			await memory.set_content('counter', { n });
			return n;`)})
		if err != nil {
			fmt.Println(err)
			return
		}
		out, err := program.Run(context.Background(), engine.Input{Input: json.RawMessage(`{"by":5}`)}, memory.Host())
		fmt.Println(string(out.Output), err, program.Close())
	}
	// Output:
	// 5 <nil> <nil>
	// 10 <nil> <nil>
}
