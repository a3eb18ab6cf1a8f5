package js_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/dop251/goja"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/js"
)

const benchTool = `async function main(input, context) { return {sum: input.a + input.b} }`

// BenchmarkBareGoja measures a run of goja without the engine. The run creates a runtime, calls the
// function, and converts input and output to and from JSON.
func BenchmarkBareGoja(b *testing.B) {
	program := goja.MustCompile("tool.js", "(function () {"+benchTool+"; return main })()", false)
	b.ReportAllocs()
	for b.Loop() {
		vm := goja.New()
		object := vm.Get("JSON").(*goja.Object)
		parse, _ := goja.AssertFunction(object.Get("parse"))
		stringify, _ := goja.AssertFunction(object.Get("stringify"))
		value, err := vm.RunProgram(program)
		if err != nil {
			b.Fatal(err)
		}
		entry, _ := goja.AssertFunction(value)
		input, _ := parse(nil, vm.ToValue(`{"a":1,"b":2}`))
		document, _ := parse(nil, vm.ToValue(`{}`))
		result, err := entry(nil, input, document)
		if err != nil {
			b.Fatal(err)
		}
		text, _ := stringify(nil, result.Export().(*goja.Promise).Result())
		if got := text.String(); got != `{"sum":3}` {
			b.Fatalf("answer = %s", got)
		}
	}
}

// BenchmarkRun measures a run of the same tool in the engine.
func BenchmarkRun(b *testing.B) {
	benchmarkRun(b, context.Background(), benchTool, `{}`)
}

// BenchmarkRunDeadline measures a run that has a deadline, and a context with members. Runs of a
// host also have these.
func BenchmarkRunDeadline(b *testing.B) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	benchmarkRun(b, ctx, benchTool, `{"sessionId":"s1","userId":"u1","appId":"a1","runId":"r1","env":{}}`)
}

// BenchmarkRunMemoryCall measures a run with one memory call.
func BenchmarkRunMemoryCall(b *testing.B) {
	benchmarkRun(b, context.Background(), `async function main(input) {
		await memory.get_content("prefs"); return {sum: input.a + input.b} }`, `{}`)
}

// BenchmarkRunLog measures a run with one log line.
func BenchmarkRunLog(b *testing.B) {
	benchmarkRun(b, context.Background(), `async function main(input) {
		console.log("adding", input.a); return {sum: input.a + input.b} }`, `{}`)
}

func benchmarkRun(b *testing.B, ctx context.Context, code, document string) {
	program, err := js.New().Load(ctx, engine.Source{Path: "tool.js", Code: []byte(code)})
	if err != nil {
		b.Fatal(err)
	}
	defer program.Close()
	host := engine.Host{
		Call: func(context.Context, abi.Call) (json.RawMessage, error) { return json.RawMessage(`{"lang":"de"}`), nil },
		Log:  func(abi.Level, string) error { return nil },
	}
	in := engine.Input{Input: json.RawMessage(`{"a":1,"b":2}`), Context: json.RawMessage(document)}
	b.ReportAllocs()
	for b.Loop() {
		out, err := program.Run(ctx, in, host)
		if err != nil {
			b.Fatal(err)
		}
		if string(out.Output) != `{"sum":3}` {
			b.Fatalf("answer = %s", out.Output)
		}
	}
}
