//go:build !race

package host_test

import (
	"encoding/json"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/toolrun/toolrun/host"
)

// TestStackOfRun checks the stack size of a run that reads and writes a record of a strict store.
// The run and 1 KiB of its caller must fit into a stack of 16 KiB. If a stack becomes too small, Go
// copies it to a larger stack, and the next garbage collection shrinks the stack again. If there
// are many concurrent runs, such copies would take a tenth of the processor time. This test is not
// built with the race detector, because the race detector makes stack frames larger.
func TestStackOfRun(t *testing.T) {
	h := openApp(t, fstest.MapFS{
		"app.yaml": {Data: []byte(`
app: test
memory:
  prefs:
    access: user
    strict: true
    schema: {type: object, properties: {settings: {type: object, properties: {language: {type: string}, before: {type: integer}}}}}
tools:
  tool: {source: tool.js, description: writes, grants: {prefs: readwrite}}
`)},
		"tool.js": {Data: []byte(`export default async function (input) {
	const found = await memory.get_content("prefs")
	await memory.set_content("prefs", {settings: {language: "en", before: found ? 1 : 0}})
	return input.n
}`)},
	})
	once := func(user string) error {
		_, err := h.Run(t.Context(), host.Invocation{Tool: "tool", Input: json.RawMessage(`{"n":1}`), Caller: host.Caller{User: user}})
		return err
	}
	if err := once("warmup"); err != nil {
		t.Fatal(err)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // this call shrinks stacks
	const runs = 200
	stop, ready := make(chan struct{}), sync.WaitGroup{}
	defer close(stop)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for n := range runs {
		ready.Add(1)
		go func() {
			var frame [1 << 10]byte // stands for the stack of the caller
			err := once("user" + itoa(n))
			frame[n]++
			if ready.Done(); err != nil || frame[n] != 1 {
				t.Error(err)
			}
			<-stop
		}()
		if n%4 == 3 {
			ready.Wait()
		}
	}
	ready.Wait()
	runtime.ReadMemStats(&after)
	if used := (after.StackInuse - before.StackInuse) / runs; used > 20<<10 {
		t.Errorf("a run uses a stack of %d bytes; want 16 KiB", used)
	}
}
