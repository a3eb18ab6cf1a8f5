package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing/fstest"

	"github.com/toolrun/toolrun/bench/measure"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engines"
	"github.com/toolrun/toolrun/host/sandbox"
)

// These cases measure runs in workers and runs in this process.
const (
	inProcess      = "JavaScript, get and set, in process"
	inWorker       = "JavaScript, get and set, in a worker"
	manyInProcess  = "JavaScript, many at once, in process"
	manyInWorkers  = "JavaScript, many at once, in workers"
	pluginInside   = "WebAssembly, get and set, in process"
	pluginInWorker = "WebAssembly, get and set, in a worker"
)

// plugin is a plug-in of 10 KB. The plug-in reads a record and writes the record again.
const plugin = "../plugins/examples/route_ticket_as/tool.wasm"

// pluginApp returns an app whose only tool is the plug-in.
func pluginApp() (fstest.MapFS, error) {
	code, err := os.ReadFile(plugin)
	if err != nil {
		return nil, fmt.Errorf("read plug-in (run this benchmark in the folder bench): %w", err)
	}
	return fstest.MapFS{
		"tool.wasm": {Data: code},
		"app.yaml": {Data: []byte(`
app: tickets
memory:
  supportHistory: {access: user, schema: {type: object, properties: {tickets: {type: object}}}}
tools:
  ticket: {source: tool.wasm, grants: {supportHistory: readwrite}}
`)},
	}, nil
}

// classified is the context of a workflow in which the plug-in runs.
var classified = json.RawMessage(`{"steps":{"classify":{"output":{"category":"billing","urgent":true}}}}`)

// overheads contains the measured hosts. Each host runs its tools in a different place, and the
// hosts are otherwise equal.
type overheads struct {
	closers
	sumInside, sumInCells       *host.Host
	pluginInside, pluginInCells *host.Host
}

func openOverheads() (p *overheads, err error) {
	p = &overheads{}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.close())
		}
	}()
	pool, err := engines.NewPool(sandbox.Options{})
	if err != nil {
		return nil, err
	}
	p.add(pool.Close)
	tickets, err := pluginApp()
	if err != nil {
		return nil, err
	}
	inside := engines.InProcess()
	for _, open := range []struct {
		host    **host.Host
		files   fstest.MapFS
		engines []engine.Engine
	}{
		{&p.sumInside, sumApp, inside}, {&p.sumInCells, sumApp, pool.Engines()},
		{&p.pluginInside, tickets, inside}, {&p.pluginInCells, tickets, pool.Engines()},
	} {
		h, err := openHost(open.files, open.engines, nil)
		if err != nil {
			return nil, err
		}
		*open.host = h
		p.add(h.Close)
	}
	return p, nil
}

// cases returns the cases. If two cases are compared with each other, they are adjacent in the
// list.
func (p *overheads) cases() []*measure.Case {
	many := 4 * runtime.GOMAXPROCS(0) // the number of workers in a pool
	return []*measure.Case{
		{Name: inProcess, Workers: 1, Call: callSum(p.sumInside)},
		{Name: inWorker, Workers: 1, Call: callSum(p.sumInCells)},
		{Name: manyInProcess, Workers: many, Call: callSum(p.sumInside)},
		{Name: manyInWorkers, Workers: many, Call: callSum(p.sumInCells)},
		{Name: pluginInside, Workers: 1, Call: callPlugin(p.pluginInside)},
		{Name: pluginInWorker, Workers: 1, Call: callPlugin(p.pluginInCells)},
	}
}

func callSum(h *host.Host) func(worker, n int) error {
	return func(worker, _ int) error { return runSum(h, user(worker)) }
}

func callPlugin(h *host.Host) func(worker, n int) error {
	return func(worker, _ int) error {
		inv := host.Invocation{Tool: "ticket", Context: classified, Caller: user(worker)}
		return runTool(h, inv, `{"queue":"finance","priority":"high"`)
	}
}

// user returns a caller. No other caller writes the records of this caller.
func user(n int) host.Caller { return host.Caller{User: "user" + strconv.Itoa(n)} }

func priceFigures(rows measure.Rows) []measure.Figure {
	return []measure.Figure{
		{Name: "a JavaScript run with one get and one set in a worker, p50", Value: rows[inWorker].P50, Unit: "µs", Aim: "under 150"},
		{Name: "overhead of the worker, p50", Value: rows[inWorker].P50 - rows[inProcess].P50, Unit: "µs", Aim: "under 60"},
		rows.Over("ratio of JavaScript in a worker to in process, p50", inWorker, "", inProcess),
		{Name: "overhead of a worker for a WebAssembly run with one get and one set, p50", Value: rows[pluginInWorker].P50 - rows[pluginInside].P50, Unit: "µs"},
		rows.Over("ratio of WebAssembly in a worker to in process, p50", pluginInWorker, "", pluginInside),
		{Name: "ratio of concurrent JavaScript runs in workers to in process, rate", Value: rows[manyInWorkers].Rate / rows[manyInProcess].Rate},
	}
}
