package telemetry

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/toolrun/toolrun/host"
)

// scope is the instrumentation scope of the spans.
const scope = "github.com/toolrun/toolrun/host/server/telemetry"

// maxCalls and maxAttempts limit the number of spans of a run. An attempt can make a thousand
// calls, and a trace with that many spans is unreadable. The span of the run contains the total
// number of calls.
const (
	maxCalls    = 200
	maxAttempts = 50
)

// runTrace records a run in progress for its trace. The spans are created after the run has ended,
// with their original times, because an observer cannot pass a context with a span to the engine.
// Only the goroutine of the run may use a runTrace.
type runTrace struct {
	began    time.Time
	traced   bool
	attempts []attempt
	calls    []call
}

// attempt is an execution of the tool. A run can have several attempts, which are numbered.
type attempt struct {
	number int
	host.Execution
}

// The method admitted returns the time at which the guest started after it had waited in the queue.
// The method "end" returns the time at which the guest ended.
func (a attempt) admitted() time.Time { return a.Began.Add(a.QueueTime) }
func (a attempt) end() time.Time      { return a.admitted().Add(a.Duration) }

type call struct {
	attempt         int
	op, store, code string
	began, ended    time.Time
}

// isTraced reports whether the trace of a run can be exported.
func (t *Telemetry) isTraced(ctx context.Context) bool {
	if t.traces == nil {
		return false
	}
	parent := trace.SpanContextFromContext(ctx)
	return !parent.IsValid() || parent.IsSampled()
}

// The method called records a memory call.
func (c *runTrace) called(number int, op, code string, event host.CallEvent) {
	if len(c.calls) == maxCalls {
		return
	}
	ended := time.Now()
	made := call{attempt: number, op: op, code: code, began: ended.Add(-event.Duration), ended: ended}
	if event.Err == nil { // otherwise the guest can choose the name
		made.store = event.Store()
	}
	c.calls = append(c.calls, made)
}

// executed records an attempt.
func (c *runTrace) executed(number int, event host.Execution) {
	if len(c.attempts) < maxAttempts {
		c.attempts = append(c.attempts, attempt{number, event})
	}
}

// trace creates the spans of a run. If ctx contains a span, this span is the parent of the run's
// span. trace returns the span of the run.
func (e *runEnd) trace(ctx context.Context, tracer trace.Tracer) trace.SpanContext {
	name := "run"
	if e.tool != "" {
		name += " " + e.tool
	}
	if e.agent != "" {
		name = "turn " + e.agent
	}
	ctx, run := tracer.Start(ctx, name, trace.WithTimestamp(e.began), trace.WithAttributes(
		attribute.String("toolrun.run_id", e.run.ID), attribute.String("toolrun.tenant", e.run.Caller.Tenant), attribute.String("toolrun.app", e.app), attribute.String("toolrun.tool", e.tool), attribute.String("toolrun.agent", e.agent),
		attribute.String("toolrun.code", e.code), attribute.Int("toolrun.attempts", e.result.Attempts),
		attribute.Int("toolrun.memory_calls", e.result.Usage.HostCalls), attribute.Bool("toolrun.repeated", e.result.Repeated),
		attribute.String("toolrun.outcome", string(e.run.Outcome)),
	))
	if e.result.Error != nil {
		run.SetStatus(codes.Error, e.code) // the message may contain text from the tool
	}
	if run.IsRecording() {
		e.traceAttempts(ctx, tracer)
	}
	run.End(trace.WithTimestamp(e.at))
	return run.SpanContext()
}

func (e *runEnd) traceAttempts(ctx context.Context, tracer trace.Tracer) {
	calls := e.calls
	for _, a := range e.attempts {
		n := 0
		for n < len(calls) && calls[n].attempt <= a.number {
			n++
		}
		a.trace(ctx, tracer, calls[:n])
		calls = calls[n:]
	}
	if n := len(e.attempts); n > 0 && e.result.OK && !e.result.Repeated {
		_, span := tracer.Start(ctx, "commit", trace.WithTimestamp(e.attempts[n-1].end()),
			trace.WithAttributes(attribute.Int("toolrun.writes", len(e.stored()))))
		span.End(trace.WithTimestamp(e.at))
	}
}

// trace creates the span of an attempt. The children of this span are a span for the queue time and
// a span for the guest. The guest's span is named worker if the guest ran in a worker process.
func (a attempt) trace(ctx context.Context, tracer trace.Tracer, calls []call) {
	ctx, span := tracer.Start(ctx, "attempt", trace.WithTimestamp(a.Began), trace.WithAttributes(
		attribute.Int("toolrun.attempt", a.number), attribute.Float64("toolrun.waited_ms", milliseconds(a.QueueTime))))
	defer span.End(trace.WithTimestamp(a.end()))
	if a.Duration == 0 {
		return
	}
	name := "guest"
	if a.Isolated {
		name = "worker"
	}
	ctx, guest := tracer.Start(ctx, name, trace.WithTimestamp(a.admitted()), trace.WithAttributes(attribute.Float64("toolrun.cpu_ms", milliseconds(a.CPU))))
	for _, c := range calls {
		c.trace(ctx, tracer)
	}
	guest.End(trace.WithTimestamp(a.end()))
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func (c call) trace(ctx context.Context, tracer trace.Tracer) {
	attrs := []attribute.KeyValue{attribute.String("toolrun.code", c.code)}
	if c.store != "" {
		attrs = append(attrs, attribute.String("toolrun.store", c.store))
	}
	_, span := tracer.Start(ctx, "memory."+c.op, trace.WithTimestamp(c.began), trace.WithAttributes(attrs...))
	if c.code != "ok" {
		span.SetStatus(codes.Error, c.code)
	}
	span.End(trace.WithTimestamp(c.ended))
}
