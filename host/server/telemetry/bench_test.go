package telemetry_test

import (
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/server/telemetry"
)

// BenchmarkObserver measures the overhead of observing a run with two memory calls.
// BenchmarkObserver has three variants: only metrics, a log line, and a trace.
func BenchmarkObserver(b *testing.B) {
	lines := slog.New(slog.NewJSONHandler(io.Discard, nil))
	for _, bench := range []struct {
		name string
		tel  func() *telemetry.Telemetry
	}{
		{"metrics", func() *telemetry.Telemetry { return newTelemetry(b, telemetry.Options{}) }},
		{"log", func() *telemetry.Telemetry { return newTelemetry(b, telemetry.Options{Logger: lines}) }},
		{"traces", func() *telemetry.Telemetry { tel, _ := traced(b, telemetry.Options{}); return tel }},
		{"one trace in 100", func() *telemetry.Telemetry { tel, _ := traced(b, telemetry.Options{SampleRatio: .01}); return tel }},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			observeRuns(b, bench.tel().Observer("shop"))
		})
	}
}

// observeRuns reports runs to an observer.
func observeRuns(b *testing.B, o host.Observer) {
	ctx := b.Context()
	run := host.RunInfo{ID: "run_1", Tool: "visit"}
	result := &report.Result{RunID: run.ID, Tool: run.Tool, OK: true, Attempts: 1, Effects: report.Effects{
		Reads: []report.ReadEffect{{Store: "visits"}}, Writes: []report.WriteEffect{{Store: "visits", Revision: 1, Op: "set"}},
	}}
	read, written := get("visits"), set("visits", "{}")
	for b.Loop() {
		_ = o.BeforeRun(ctx, run)
		run.Attempt = 1
		o.MemoryCalled(ctx, run, host.CallEvent{Call: read, Verb: abi.Read, Duration: time.Microsecond})
		o.MemoryCalled(ctx, run, host.CallEvent{Call: written, Verb: abi.Write, Duration: time.Microsecond})
		_ = o.AfterRun(ctx, run, nil, nil)
		run.Attempt = 0
		o.RunEnded(ctx, run, result)
	}
}
