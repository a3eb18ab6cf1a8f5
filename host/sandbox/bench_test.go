//go:build linux

package sandbox_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/enginetest/wasmtools"
	"github.com/toolrun/toolrun/host/engine/js"
	"github.com/toolrun/toolrun/host/sandbox"
)

// getAndSet is the source of a tool. The tool reads and writes one record.
const getAndSet = `const prefs = await memory.get_content("prefs");
await memory.set_content("prefs", {language: input.language, was: prefs.language});
return {language: prefs.language};`

// BenchmarkRunInProcess runs the tool in this process. BenchmarkRunInWorker runs the tool in a
// worker.
func BenchmarkRunInProcess(b *testing.B) { benchmarkRun(b, js.New()) }

func BenchmarkRunInWorker(b *testing.B) {
	benchmarkRun(b, newPool(b, sandbox.Options{}).Engines()[javaScript])
}

func benchmarkRun(b *testing.B, e engine.Engine) {
	program, err := e.Load(b.Context(), engine.Source{Path: "tool.js", Code: []byte(getAndSet)})
	if err != nil {
		b.Fatal(err)
	}
	defer program.Close()
	host := engine.Host{
		Call: func(context.Context, abi.Call) (json.RawMessage, error) {
			return json.RawMessage(`{"language":"de"}`), nil
		},
		Log: func(abi.Level, string) error { return nil },
	}
	in := engine.Input{Input: json.RawMessage(`{"language":"fr"}`), Context: json.RawMessage(`{"sessionId":"s1","userId":"u1"}`)}
	times := make([]time.Duration, 0, 1<<16)
	b.ReportAllocs()
	for b.Loop() {
		ctx, cancel := context.WithTimeout(b.Context(), 5*time.Second) // as in a real host
		began := time.Now()
		out, err := program.Run(ctx, in, host)
		times = append(times, time.Since(began))
		cancel()
		if err != nil || string(out.Output) != `{"language":"de"}` {
			b.Fatalf("Run = %s, %v", out.Output, err)
		}
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Nanoseconds())/1000, "p50-us")
	b.ReportMetric(float64(times[len(times)*99/100].Nanoseconds())/1000, "p99-us")
}

// BenchmarkFirstRun starts a worker. The worker compiles a tool and runs it once.
func BenchmarkFirstRun(b *testing.B) {
	for b.Loop() {
		p := newPool(b, sandbox.Options{Spares: -1})
		program, err := p.Engines()[javaScript].Load(b.Context(), engine.Source{Path: "tool.js", Code: []byte("return 1")})
		if err == nil {
			_, err = program.Run(b.Context(), engine.Input{}, engine.Host{})
		}
		if err != nil {
			b.Fatal(err)
		}
		p.Close()
	}
}

// BenchmarkLoadPlugin measures how long a worker takes to compile a Go plug-in, with and without a
// cache.
func BenchmarkLoadPlugin(b *testing.B) {
	code := wasmtools.Build(b, "suite")
	for name, dir := range map[string]string{"cold": "", "kept": filepath.Join(b.TempDir(), "compiled")} {
		b.Run(name, func(b *testing.B) {
			p := newPool(b, sandbox.Options{CacheDir: dir})
			for b.Loop() {
				program, err := p.Engines()[webAssembly].Load(b.Context(), engine.Source{Path: "suite.wasm", Code: code, Entry: "sum"})
				if err != nil {
					b.Fatal(err)
				}
				program.Close()
			}
		})
	}
}

// BenchmarkIdleMemory measures the proportional set size (PSS) of an idle worker. The worker has
// run a tool before.
func BenchmarkIdleMemory(b *testing.B) {
	p := newPool(b, sandbox.Options{Workers: 10, Spares: -1})
	program, err := p.Engines()[javaScript].Load(b.Context(), engine.Source{Path: "tool.js", Code: []byte("return 1")})
	if err != nil {
		b.Fatal(err)
	}
	for i := range 10 {
		if _, err := program.Run(b.Context(), engine.Input{Domain: strconv.Itoa(i)}, engine.Host{}); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		total := 0
		pids := children(b)
		for _, pid := range pids {
			text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/smaps_rollup")
			if err != nil {
				b.Skipf("cannot read the memory of a process: %v", err)
			}
			for line := range strings.Lines(string(text)) {
				if name, rest, _ := strings.Cut(line, ":"); name == "Pss" {
					kib, _ := strconv.Atoi(strings.Fields(rest)[0])
					total += kib
				}
			}
		}
		b.ReportMetric(float64(total)/float64(len(pids))/1024, "MiB/worker")
	}
}
