package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"testing/fstest"
	"time"

	"github.com/dop251/goja"
	"go.etcd.io/bbolt"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/bench/measure"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/js"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/storage/bolt"
)

// These are the names of the cases.
const (
	bareGoja   = "bare goja, new runtime"
	bareRead   = "bare bbolt read"
	readingRun = "run that reads one record"
	bareUpdate = "bare bbolt Update, fsync"
	writingRun = "run that reads and writes one record"
	bareBatch  = "bare bbolt Batch"
	eagerBatch = "bare bbolt Batch, no delay"
	bareBoth   = "bare goja, then bare bbolt Update"
	manyRuns   = "runs that read and write one record"
	manyBare   = "bare goja, then bare bbolt Batch"
)

// writers is the number of concurrent writers in the cases that measure concurrent writes.
const writers = 256

const record = `{"preferences":{"language":"en","notifications":true},"recentOrders":["a1","b2","c3"],"visits":1}`

// Each tool checks whether a global variable exists that an earlier run would have set. If this
// global variable exists, the host has reused a JavaScript runtime.
const (
	probe    = "if (globalThis.leaked) throw new Error('a global of an earlier run'); globalThis.leaked = true;\n"
	readTool = probe + `const prefs = await memory.get_content("prefs");
return {sum: input.a + input.b, language: prefs.preferences.language};`
	writeTool = probe + `const prefs = await memory.get_content("prefs");
await memory.set_content("prefs", {visits: prefs.visits + 1});
return {sum: input.a + input.b};`
	bareTool = `(function(input) { "use strict"; return (async function() { ` + probe +
		`return {sum: input.a + input.b, language: "en"}; })(); })`
)

const appFile = `
app: bench
memory:
  prefs:
    access: user
    retention: 1_month
    strict: true
    schema:
      type: object
      properties:
        preferences: {type: object, properties: {language: {type: string}, notifications: {type: boolean}}}
        recentOrders: {type: array, items: {type: string}}
        visits: {type: integer}
tools:
  read: {source: read.js, description: reads, grants: {prefs: read}}
  write: {source: write.js, description: writes, grants: {prefs: readwrite}, limits: {timeout: 60s}}
`

var input = json.RawMessage(`{"a":1,"b":2}`)

// prepare creates all cases and the resources that they need.
func prepare(dir string) (*measure.Bench, error) {
	h, db, err := openHost(filepath.Join(dir, "host.db"))
	if err != nil {
		return nil, err
	}
	bare, err := openBare(filepath.Join(dir, "bare.db"))
	if err != nil {
		return nil, err
	}
	bareRun, err := bareProgram()
	if err != nil {
		return nil, err
	}
	cases := []*measure.Case{
		{Name: bareGoja, Workers: 1, Call: bareRun},
		{Name: bareRead, Workers: 1, Call: readBare(bare)},
		{Name: readingRun, Workers: 1, Call: runTool(h, "read")},
		{Name: bareUpdate, Workers: 1, Call: updateBare(bare)},
		{Name: bareBoth, Workers: 1, Call: both(bareRun, updateBare(bare))},
		{Name: writingRun, Workers: 1, Call: runTool(h, "write")},
		{Name: bareBatch, Workers: writers, Call: batchBare(bare, 10*time.Millisecond)},
		{Name: eagerBatch, Workers: writers, Call: batchBare(bare, time.Millisecond)},
		{Name: manyBare, Workers: writers, Call: both(bareRun, batchBare(bare, time.Millisecond))},
		{Name: manyRuns, Workers: writers, Call: runTool(h, "write")},
	}
	closeAll := func() error { return errors.Join(h.Close(), db.Close(), bare.Close()) }
	return &measure.Bench{Cases: cases, Figures: figures, Close: closeAll}, nil
}

func user(worker int) string { return "user" + strconv.Itoa(worker) }

func openHost(path string) (*host.Host, *bolt.Backend, error) {
	loaded, problems := app.Load(fstest.MapFS{
		"app.yaml": {Data: []byte(appFile)}, "read.js": {Data: []byte(readTool)}, "write.js": {Data: []byte(writeTool)},
	}, "app.yaml")
	if loaded == nil {
		return nil, nil, problems
	}
	db, err := bolt.Open(path, nil)
	if err != nil {
		return nil, nil, err
	}
	h, err := host.Open(context.Background(), host.Options{App: loaded, Backend: db, Engines: []engine.Engine{js.New()}})
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	for worker := range writers {
		call := abi.Call{Op: abi.SetContent, Args: []json.RawMessage{json.RawMessage(`"prefs"`), json.RawMessage(record)}}
		if _, _, err := h.Stores().Do(context.Background(), host.Caller{User: user(worker)}, memory.Operator(), call); err != nil {
			return nil, nil, errors.Join(err, h.Close(), db.Close())
		}
	}
	return h, db, nil
}

func runTool(h *host.Host, tool string) func(worker, n int) error {
	return func(worker, _ int) error {
		result, err := h.Run(context.Background(), host.Invocation{Tool: tool, Input: input, Caller: host.Caller{User: user(worker)}})
		if err != nil {
			return err
		}
		if want := `"sum":3`; !contains(result.Output, want) {
			return fmt.Errorf("the run returned %s; want %s", result.Output, want)
		}
		return nil
	}
}

func contains(text json.RawMessage, part string) bool {
	for i := range len(text) - len(part) + 1 {
		if string(text[i:i+len(part)]) == part {
			return true
		}
	}
	return false
}

// bareProgram returns a function that does the minimum work of any host that uses goja. The
// returned function creates a runtime, decodes JSON input, runs the compiled tool, and encodes JSON
// output.
func bareProgram() (func(worker, n int) error, error) {
	program, err := goja.Compile("tool.js", bareTool, false)
	if err != nil {
		return nil, err
	}
	return func(int, int) error {
		vm := goja.New()
		function, err := vm.RunProgram(program)
		if err != nil {
			return err
		}
		call, _ := goja.AssertFunction(function)
		object := vm.GlobalObject().Get("JSON").ToObject(vm)
		parse, _ := goja.AssertFunction(object.Get("parse"))
		stringify, _ := goja.AssertFunction(object.Get("stringify"))
		arg, err := parse(goja.Undefined(), vm.ToValue(string(input)))
		if err != nil {
			return err
		}
		answer, err := call(goja.Undefined(), arg)
		if err != nil {
			return err
		}
		promise, ok := answer.Export().(*goja.Promise)
		if !ok || promise.State() != goja.PromiseStateFulfilled {
			return errors.New("the tool returned nothing")
		}
		text, err := stringify(goja.Undefined(), promise.Result())
		if err != nil {
			return fmt.Errorf("convert the tool's result to JSON: %w", err)
		}
		if want := `{"sum":3,"language":"en"}`; text.String() != want {
			return fmt.Errorf("the tool returned %s instead of %s", text, want)
		}
		return nil
	}, nil
}

var bucket = []byte("records")

func openBare(path string) (*bbolt.DB, error) {
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		return nil, err
	}
	return db, db.Update(func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucket(bucket)
		if err != nil {
			return err
		}
		for worker := range writers {
			if err := b.Put([]byte(user(worker)), []byte(record)); err != nil {
				return err
			}
		}
		return nil
	})
}

func readBare(db *bbolt.DB) func(worker, n int) error {
	return func(worker, _ int) error {
		return db.View(func(tx *bbolt.Tx) error {
			if v := tx.Bucket(bucket).Get([]byte(user(worker))); len(v) != len(record) {
				return fmt.Errorf("read %d bytes", len(v))
			}
			return nil
		})
	}
}

func updateBare(db *bbolt.DB) func(worker, n int) error {
	return func(worker, _ int) error { return db.Update(putBare(worker)) }
}

func batchBare(db *bbolt.DB, delay time.Duration) func(worker, n int) error {
	return func(worker, n int) error {
		if n == 0 && worker == 0 {
			db.MaxBatchSize, db.MaxBatchDelay = writers, delay
		}
		return db.Batch(putBare(worker))
	}
}

// The function "both" returns a function that does the minimum work of a run that writes.
func both(first, second func(worker, n int) error) func(worker, n int) error {
	return func(worker, n int) error {
		if err := first(worker, n); err != nil {
			return err
		}
		return second(worker, n)
	}
}

func putBare(worker int) func(tx *bbolt.Tx) error {
	return func(tx *bbolt.Tx) error { return tx.Bucket(bucket).Put([]byte(user(worker)), []byte(record)) }
}
