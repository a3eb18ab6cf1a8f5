package telemetry

import (
	"context"
	"encoding/json"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/toolrun/toolrun/host"
)

// scope names what made a span, as OpenTelemetry wants it.
const scope = "github.com/toolrun/toolrun/host/telemetry"

// maxCalls and maxAttempts bound the spans of a run: a tool may call a thousand times an attempt, and a trace of as many
// spans is no use to anybody. The run's span says how many calls there were.
const (
	maxCalls    = 200
	maxAttempts = 50
)

// course is what a run in progress has done, for its trace. Its spans are made when it has ended, with the times they
// had: an observer cannot hand the engine a context with a span. It is used by the run's goroutine alone.
type course struct {
	began    time.Time
	traced   bool
	attempts []attempt
	calls    []call
}

// attempt is one execution of the tool, as far as a host tells of it: the first one begins with the run, others with
// their first memory call, and one that failed ends with its last call or with the run.
type attempt struct {
	number       int
	began, ended time.Time
	succeeded    bool
}

type call struct {
	attempt         int
	op, store, code string
	began, ended    time.Time
}

// mayTrace reports whether a run could be in a trace that is exported.
func (t *Telemetry) mayTrace(ctx context.Context) bool {
	if t.traces == nil {
		return false
	}
	parent := trace.SpanContextFromContext(ctx)
	return !parent.IsValid() || parent.IsSampled()
}

// called notes a memory call.
func (c *course) called(number int, op, code string, event host.CallEvent) {
	ended := time.Now()
	began := ended.Add(-event.Took)
	c.at(number, began, ended)
	if len(c.calls) == maxCalls {
		return
	}
	made := call{attempt: number, op: op, code: code, began: began, ended: ended}
	if event.Err == nil { // then it is the name of a store, and not just what a guest said
		_ = json.Unmarshal(event.Call.Arg(0), &made.store)
	}
	c.calls = append(c.calls, made)
}

// succeeded notes that the guest of an attempt is done.
func (c *course) succeeded(number int) {
	now := time.Now()
	if a := c.at(number, now, now); a != nil {
		a.succeeded = true
	}
}

// at notes that an attempt was under way, and returns it; nil for one too many.
func (c *course) at(number int, from, until time.Time) *attempt {
	if n := len(c.attempts); n == 0 || c.attempts[n-1].number != number {
		if n == maxAttempts {
			return nil
		}
		if number == 1 {
			from = c.began
		}
		c.attempts = append(c.attempts, attempt{number: number, began: from})
	}
	a := &c.attempts[len(c.attempts)-1]
	a.ended = until
	return a
}

// close ends the last attempt with the run, unless its guest had succeeded.
func (e *ending) close() {
	last := e.result.Attempts
	if e.result.Repeated || last == 0 {
		return
	}
	if last == 1 && len(e.attempts) == 0 {
		e.attempts = append(e.attempts, attempt{number: 1, began: e.course.began})
	}
	if n := len(e.attempts); n > 0 && e.attempts[n-1].number == last && !e.attempts[n-1].succeeded {
		e.attempts[n-1].ended = e.at
	}
}

// trace makes the spans of a run, below the span in ctx if there is one, and returns the run's own.
func (e *ending) trace(ctx context.Context, tracer trace.Tracer) trace.SpanContext {
	e.close()
	name := "run"
	if e.tool != "" {
		name += " " + e.tool
	}
	ctx, run := tracer.Start(ctx, name, trace.WithTimestamp(e.began), trace.WithAttributes(
		attribute.String("toolrun.run_id", e.id), attribute.String("toolrun.app", e.app), attribute.String("toolrun.tool", e.tool),
		attribute.String("toolrun.code", e.code), attribute.Int("toolrun.attempts", e.result.Attempts),
		attribute.Int("toolrun.memory_calls", e.result.Usage.HostCalls), attribute.Bool("toolrun.repeated", e.result.Repeated),
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

func (e *ending) traceAttempts(ctx context.Context, tracer trace.Tracer) {
	calls := e.calls
	for _, a := range e.attempts {
		within, span := tracer.Start(ctx, "attempt", trace.WithTimestamp(a.began),
			trace.WithAttributes(attribute.Int("toolrun.attempt", a.number)))
		for len(calls) > 0 && calls[0].attempt <= a.number {
			calls[0].trace(within, tracer)
			calls = calls[1:]
		}
		span.End(trace.WithTimestamp(a.ended))
	}
	if n := len(e.attempts); n > 0 && e.attempts[n-1].succeeded && e.result.OK && !e.result.Repeated {
		_, span := tracer.Start(ctx, "commit", trace.WithTimestamp(e.attempts[n-1].ended),
			trace.WithAttributes(attribute.Int("toolrun.writes", len(e.stored()))))
		span.End(trace.WithTimestamp(e.at))
	}
}

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
