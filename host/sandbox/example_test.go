//go:build linux

package sandbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/sandbox"
)

// TestMain first calls Main, as the main function of a program does. Main does not return in a
// worker.
func TestMain(m *testing.M) {
	sandbox.Main(languages...)
	os.Exit(m.Run())
}

func ExamplePool() {
	pool, err := sandbox.New(sandbox.Options{Languages: languages})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer pool.Close()
	program, err := pool.Engines()[0].Load(context.Background(), engine.Source{
		Path: "sum.js", Code: []byte("return {sum: input.a + input.b};"), Domain: "my app",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer program.Close()
	out, err := program.Run(context.Background(), engine.Input{Input: json.RawMessage(`{"a":1,"b":2}`), Domain: "a tenant"}, engine.Host{})
	fmt.Println(string(out.Output), err)
	// Output: {"sum":3} <nil>
}
