package telemetry

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/approval"
	"github.com/toolrun/toolrun/host/report"
)

// observer reports the runs of one app to its Telemetry.
type observer struct {
	host.NopObserver // for events that the metrics do not count

	t    *Telemetry
	app  string
	runs sync.Map // runs in progress: run id to *runTrace
}

var _ host.Observer = (*observer)(nil)

// SessionStarted counts a started session.
func (o *observer) SessionStarted(context.Context, host.Caller) {
	o.t.metrics.sessions.WithLabelValues(o.app, "started").Inc()
}

// SessionEnded counts an ended session.
func (o *observer) SessionEnded(context.Context, host.Caller) {
	o.t.metrics.sessions.WithLabelValues(o.app, "ended").Inc()
}

// WorkflowEnded counts an ended workflow.
func (o *observer) WorkflowEnded(context.Context, host.Caller) {
	o.t.metrics.workflows.WithLabelValues(o.app, "ended").Inc()
}

// ApprovalEnded counts an approval that has ended by a decision or by expiry.
func (o *observer) ApprovalEnded(_ context.Context, _ host.Caller, state approval.State) {
	o.t.metrics.approvals.WithLabelValues(o.app, string(state)).Inc()
}

// BeforeRun counts a run in progress. BeforeRun never rejects a run.
func (o *observer) BeforeRun(ctx context.Context, run host.RunInfo) error {
	o.t.metrics.runsInProgress.WithLabelValues(o.app).Inc()
	o.t.tenants.began(run.Caller.Tenant)
	o.runs.Store(run.ID, &runTrace{began: time.Now(), traced: o.t.isTraced(ctx)})
	return nil
}

// MemoryCalled counts and traces a memory call.
func (o *observer) MemoryCalled(_ context.Context, run host.RunInfo, event host.CallEvent) {
	op, code := opOf(event), callCode(event.Err)
	o.t.metrics.calls.WithLabelValues(o.app, op, code).Inc()
	o.t.metrics.callSeconds.WithLabelValues(o.app, op).Observe(event.Duration.Seconds())
	if c := o.runTrace(run); c != nil && c.traced {
		c.called(run.Attempt, op, code, event)
	}
}

// AttemptEnded counts and traces an attempt.
func (o *observer) AttemptEnded(_ context.Context, run host.RunInfo, event host.Execution) {
	o.t.metrics.waitSeconds.WithLabelValues(o.app).Observe(event.QueueTime.Seconds())
	o.t.tenants.waited(run.Caller.Tenant, event.QueueTime.Seconds())
	if c := o.runTrace(run); c != nil && c.traced {
		c.executed(run.Attempt, event)
	}
}

// RunEnded counts and traces a run, and writes the log line of the run.
func (o *observer) RunEnded(ctx context.Context, run host.RunInfo, result *report.Result) {
	e := runEnd{run: run, app: o.app, tool: toolOf(run, result), agent: agentOf(run, result), code: codeOf(result.Error), result: result, at: time.Now()}
	c, began := o.runs.LoadAndDelete(run.ID)
	if began {
		o.t.metrics.runsInProgress.WithLabelValues(o.app).Dec()
		e.runTrace = *c.(*runTrace)
	} else {
		e.runTrace = runTrace{began: e.at, traced: o.t.isTraced(ctx)}
	}
	if !result.Repeated { // a repeated Result has the usage of the earlier run
		e.began = earliest(e.began, e.at.Add(-time.Duration(result.Usage.WallMS*float64(time.Millisecond))))
	}
	if run.QueueTime > 0 {
		o.t.metrics.waitSeconds.WithLabelValues(o.app).Observe(run.QueueTime.Seconds())
		o.t.tenants.waited(run.Caller.Tenant, run.QueueTime.Seconds())
	}
	if result.Approval != nil && !result.Repeated {
		o.t.metrics.approvals.WithLabelValues(o.app, "requested").Inc()
	}
	o.t.metrics.count(e)
	o.t.tenants.ended(run.Caller.Tenant, string(run.Outcome), began, result)
	span := trace.SpanContextFromContext(ctx)
	if e.traced {
		span = e.trace(ctx, o.t.tracer)
	}
	o.log(ctx, e, span)
}

// runTrace returns the trace of a run in progress, or nil if BeforeRun was not called for the run.
func (o *observer) runTrace(run host.RunInfo) *runTrace {
	c, ok := o.runs.Load(run.ID)
	if !ok {
		return nil
	}
	return c.(*runTrace)
}

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// runEnd describes a run that has ended.
type runEnd struct {
	runTrace
	run             host.RunInfo
	app, tool, code string
	agent           string // "" for the run of a tool
	result          *report.Result
	at              time.Time
}

// count counts a run that has ended.
func (m *metrics) count(e runEnd) {
	switch {
	case e.run.Sleep:
		m.countSleep(e)
	case e.run.Agent != "":
		m.countTurn(e)
	default:
		m.runs.WithLabelValues(e.app, e.tool, e.code).Inc()
	}
	if e.result.Repeated {
		m.repeated.WithLabelValues(e.app, e.tool).Inc()
		return
	}
	if e.run.Agent == "" && !e.run.Sleep {
		m.runSeconds.WithLabelValues(e.app, e.tool).Observe(e.result.Usage.WallMS / 1000)
	}
	if e.result.Attempts == 0 {
		return
	}
	m.runAttempts.WithLabelValues(e.app, e.tool).Observe(float64(e.result.Attempts))
	m.conflicts.WithLabelValues(e.app, e.tool).Add(float64(e.result.Attempts - 1))
	m.countModels(e.app, e.result.Usage.Model)
	m.cpuSeconds.WithLabelValues(e.app, e.tool).Add(max(0, e.result.Usage.CPUMS/1000)) // a counter panics on negative values
	for _, line := range e.result.Logs {
		m.logs.WithLabelValues(e.app, e.tool, levelOf(line.Level)).Inc()
	}
	if n := len(e.result.Effects.Reads); n > 0 {
		m.effects.WithLabelValues(e.app, e.tool, "read").Add(float64(n))
	}
	for _, w := range e.stored() {
		m.effects.WithLabelValues(e.app, e.tool, effectOf(w)).Inc()
	}
}

// countTurn counts a turn that has ended.
func (m *metrics) countTurn(e runEnd) {
	m.agentTurns.WithLabelValues(e.app, e.agent, e.code).Inc()
	if !e.result.Repeated {
		m.turnSeconds.WithLabelValues(e.app, e.agent).Observe(e.result.Usage.WallMS / 1000)
	}
	if n := e.run.UnrecordedMessages; n > 0 && e.result.OK {
		m.unrecorded.WithLabelValues(e.app).Add(float64(n))
	}
}

// countSleep counts a run of sleep-time memory that has ended.
func (m *metrics) countSleep(e runEnd) {
	m.sleepRuns.WithLabelValues(e.app, e.code).Inc()
	m.sleepSeconds.WithLabelValues(e.app).Observe(e.result.Usage.WallMS / 1000)
}

// cpuMS returns the CPU time of this run in milliseconds. cpuMS returns 0 for a repeated Result,
// which contains the usage of the earlier run.
func (e runEnd) cpuMS() float64 {
	if e.result.Repeated {
		return 0
	}
	return e.result.Usage.CPUMS
}

// stored returns the writes that the run committed. A failed run commits no writes, and a dry run
// commits no writes.
func (e runEnd) stored() []report.WriteEffect {
	if !e.result.OK || len(e.result.Changes) > 0 {
		return nil
	}
	return e.result.Effects.Writes
}

func effectOf(w report.WriteEffect) string {
	if w.Revision == 0 {
		return "delete"
	}
	return "set"
}

// subject returns an attribute of the log line. The attribute contains the name of a run's tool or
// of a turn's agent.
func (e runEnd) subject() slog.Attr {
	if e.run.Tool == "" {
		return slog.String("agent", e.agent)
	}
	return slog.String("tool", e.tool)
}

// logCode returns the code for the log line of a run. The code of a paused run is "paused".
func (e runEnd) logCode() string {
	if e.result.Status == report.Paused {
		return string(report.Paused)
	}
	return e.code
}

// log writes the log line of a run. The log line does not contain messages, content or end users.
// All ids in the log line are assigned by the platform.
func (o *observer) log(ctx context.Context, e runEnd, span trace.SpanContext) {
	level := slog.LevelInfo
	if e.code == string(abi.Internal) || e.code == string(abi.Unavailable) {
		level = slog.LevelWarn
	}
	attrs := []slog.Attr{
		slog.String("run_id", e.run.ID), slog.String("tenant", e.run.Caller.Tenant), slog.String("app", e.app), e.subject(),
		slog.String("code", e.logCode()), slog.String("outcome", string(e.run.Outcome)),
		slog.Float64("ms", milliseconds(e.at.Sub(e.began))), slog.Int("attempts", e.result.Attempts),
		slog.Float64("cpu_ms", e.cpuMS()),
	}
	if caller := e.run.Caller; caller.Actor != "" && !caller.ActorIsUser {
		attrs = append(attrs, slog.String("actor", caller.Actor))
	}
	if e.run.Sleep {
		attrs = append(attrs, slog.Bool("sleep", true))
	}
	if e.result.Repeated {
		attrs = append(attrs, slog.String("repeats", e.result.RunID))
	}
	if span.IsValid() {
		attrs = append(attrs, slog.String("trace_id", span.TraceID().String()))
	}
	o.t.log.LogAttrs(ctx, level, "run", attrs...)
}

// countModels counts the requests of a run to models.
func (m *metrics) countModels(app string, used report.ModelUsage) {
	if used.Calls == 0 {
		return
	}
	m.modelCalls.WithLabelValues(app).Add(float64(used.Calls))
	m.modelTokens.WithLabelValues(app, "input").Add(float64(used.InputTokens))
	m.modelTokens.WithLabelValues(app, "output").Add(float64(used.OutputTokens))
}
