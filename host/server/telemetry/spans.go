package telemetry

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/toolrun/toolrun/host"
)

// scope names what made a span, as OpenTelemetry wants it.
const scope = "github.com/toolrun/toolrun/host/server/telemetry"

// maxCalls and maxAttempts bound the spans of a run: a tool may call a thousand times an attempt, and a trace of as many
// spans is no use to anybody. The run's span says how many calls there were.
const (
	maxCalls    = 200
	maxAttempts = 50
)

// course is what a run in progress has done, for its trace. Its spans are made when it has ended, with the times they
// had: an observer cannot hand the engine a context with a span. It is used by the run's goroutine alone.
type runTrace struct {
	began    time.Time
	traced   bool
	attempts []attempt
	calls    []call
}

// attempt is one execution of the tool, by its number.
type attempt struct {
	number int
	host.Execution
}

// turn is when the guest began, after it had waited, and end when it was over.
func (a attempt) turn() time.Time { return a.Began.Add(a.Waited) }
func (a attempt) end() time.Time  { return a.turn().Add(a.Took) }

type call struct {
	attempt         int
	op, store, code string
	began, ended    time.Time
}

// mayTrace reports whether a run could be in a trace that is exported.
func (t *Telemetry) isTraced(ctx context.Context) bool {
	if t.traces == nil {
		return false
	}
	parent := trace.SpanContextFromContext(ctx)
	return !parent.IsValid() || parent.IsSampled()
}

// called notes a memory call.
func (c *runTrace) called(number int, op, code string, event host.CallEvent) {
	if len(c.calls) == maxCalls {
		return
	}
	ended := time.Now()
	made := call{attempt: number, op: op, code: code, began: ended.Add(-event.Took), ended: ended}
	if event.Err == nil { // otherwise the name may be any text of the guest
		made.store = event.Store()
	}
	c.calls = append(c.calls, made)
}

// executed notes an attempt.
func (c *runTrace) executed(number int, event host.Execution) {
	if len(c.attempts) < maxAttempts {
		c.attempts = append(c.attempts, attempt{number, event})
	}
}

// trace makes the spans of a run, below the span in ctx if there is one, and returns the run's own.
func (e *runEnd) trace(ctx context.Context, tracer trace.Tracer) trace.SpanContext {
	name := "run"
	if e.tool != "" {
		name += " " + e.tool
	}
	ctx, run := tracer.Start(ctx, name, trace.WithTimestamp(e.began), trace.WithAttributes(
		attribute.String("toolrun.run_id", e.run.ID), attribute.String("toolrun.tenant", e.run.Caller.Tenant), attribute.String("toolrun.app", e.app), attribute.String("toolrun.tool", e.tool),
		attribute.String("toolrun.code", e.code), attribute.Int("toolrun.attempts", e.result.Attempts),
		attribute.Int("toolrun.memory_calls", e.result.Usage.HostCalls), attribute.Bool("toolrun.repeated", e.result.Repeated),
		attribute.String("toolrun.outcome", string(e.run.Outcome)),
	))
	if e.result.Error != nil {
		run.SetStatus(codes.Error, e.code) // a message may be the tool's own words
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

// trace makes the span of an attempt: the time that it waited for its turn, and then the span of the guest, which is called
// cell where it had a process of its own.
func (a attempt) trace(ctx context.Context, tracer trace.Tracer, calls []call) {
	ctx, span := tracer.Start(ctx, "attempt", trace.WithTimestamp(a.Began), trace.WithAttributes(
		attribute.Int("toolrun.attempt", a.number), attribute.Float64("toolrun.waited_ms", milliseconds(a.Waited))))
	defer span.End(trace.WithTimestamp(a.end()))
	if a.Took == 0 {
		return
	}
	name := "guest"
	if a.Walled {
		name = "cell"
	}
	ctx, guest := tracer.Start(ctx, name, trace.WithTimestamp(a.turn()), trace.WithAttributes(attribute.Float64("toolrun.cpu_ms", milliseconds(a.CPU))))
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
