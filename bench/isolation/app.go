package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing/fstest"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/admission"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// sumApp is the small tool that most measurements use. The tool reads a record and writes the
// record again. The programs in bench/peers do the same.
var sumApp = fstest.MapFS{
	"app.yaml": {Data: []byte(`
app: sums
memory:
  counter:
    access: user
    strict: true
    schema: {type: object, properties: {n: {type: integer}}}
tools:
  sum: {source: sum.js, grants: {counter: readwrite}}
`)},
	"sum.js": {Data: []byte(`const counter = await memory.get_content("counter");
const n = (counter?.n ?? 0) + 1;
await memory.set_content("counter", {n});
return {sum: input.a + input.b, n};
`)},
}

// openHost opens a host for an app. The host stores records in the memory of this process, because
// the benchmark must not measure disk access. If gate is nil, the host creates its own gate.
func openHost(files fs.FS, engines []engine.Engine, gate *admission.Gate) (*host.Host, error) {
	loaded, problems := app.Load(files, "app.yaml")
	if err := problems.Err(); err != nil {
		return nil, err
	}
	return host.Open(context.Background(), host.Options{App: loaded, Backend: mem.New(), Engines: engines, Gate: gate})
}

// runSum runs the small tool once and checks its output.
func runSum(h *host.Host, caller host.Caller) error {
	inv := host.Invocation{Tool: "sum", Input: json.RawMessage(`{"a":1,"b":2}`), Caller: caller}
	return runTool(h, inv, `{"sum":3,"n":`)
}

// runTool runs a tool once and checks that its output begins with want.
func runTool(h *host.Host, inv host.Invocation, want string) error {
	result, err := h.Run(context.Background(), inv)
	if err == nil && !strings.HasPrefix(string(result.Output), want) {
		err = fmt.Errorf("the tool returned %s; want %s", result.Output, want)
	}
	return err
}

// closers closes resources in reverse order.
type closers []func() error

func (c *closers) add(closeOne func() error) { *c = append(*c, closeOne) }

func (c *closers) close() (err error) {
	for len(*c) > 0 {
		last := len(*c) - 1
		err = errors.Join(err, (*c)[last]())
		*c = (*c)[:last]
	}
	return err
}
