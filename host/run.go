package host

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/session"
)

// InProcessWarning is the warning in the Result of every run that was executed in the host's own
// process.
const InProcessWarning = "the tool ran in the host's process: only the engine isolates it from files, the network and other memory"

// run is the execution of one Invocation.
type run struct {
	h       *Host
	inv     Invocation
	info    RunInfo
	tool    *tool
	program engine.Program
	input   json.RawMessage
	context json.RawMessage
	// undeclared contains warnings about undeclared members of the input.
	undeclared []string
	// fingerprint is the fingerprint that is stored with the idempotency key, or "" without a key.
	fingerprint string
	limits      Limits    // of an attempt
	began       time.Time // start time by the host's clock, for the ledger
	started     time.Time
	cpu         time.Duration
	attempts    int
	calls       int
	last        *attempt
	overtime    error // the cause of a context that ends at the run's time limit
	peak        int64
	state       RunState // the last state that OnState reported
	// refused is true if an observer refused the run. executed is true if the tool was executed.
	refused, executed bool
}

// Run executes a tool once. The Result is never nil. If the run fails, the error is the fault in
// the Result, which works with errors.Is(err, abi.Timeout). When ctx ends, the run is stopped
// unless it has begun to commit. The error of a stopped run also wraps ctx.Err().
func (h *Host) Run(ctx context.Context, inv Invocation) (*report.Result, error) {
	r := h.newRun(inv)
	if ctx == nil {
		return r.result(memory.Done{}, errNoContext), errNoContext
	}
	done, err := r.execute(ctx)
	return r.end(ctx, done, err)
}

// newRun returns a run that has not started yet.
func (h *Host) newRun(inv Invocation) *run {
	inv.Tool = inv.toolName(h.app)
	r := &run{h: h, inv: inv, began: h.now(), started: time.Now(), info: RunInfo{App: h.app.ID, Tool: inv.Tool, Caller: inv.Caller}}
	if inv.Code != nil {
		r.info.Tool = CodeTool
	}
	return r
}

// end records the end of a run and returns the results of Run. It is a separate function, so its
// variables do not use stack while the guest runs. A small stack is important, because Go copies a
// stack whenever it grows beyond a power of two. The calls of observers are also in separate
// functions, which keeps the stack small.
func (r *run) end(ctx context.Context, done memory.Done, err error) (*report.Result, error) {
	result := r.result(done, err)
	r.record(done, result)
	r.info.Outcome = r.outcome(result)
	r.h.meter.add(r.info.Caller.Tenant, r.began, r.used(result))
	for _, o := range r.h.observers {
		o.RunEnded(ctx, r.info, result)
	}
	if result.Error != nil {
		return result, endError(ctx, result.Error)
	}
	return result, nil
}

// contextError is the error of a run that ended because the caller's context ended. It wraps the
// fault and the error of the context.
type contextError struct {
	*abi.Fault
	cause error
}

// Unwrap returns the fault and the error of the context.
func (e *contextError) Unwrap() []error { return []error{e.Fault, e.cause} }

// endError returns the error of a run for its caller: the fault, or a contextError if the run ended
// because the context ended.
func endError(ctx context.Context, f *abi.Fault) error {
	if cause := ctx.Err(); cause != nil && (f.Code == abi.Timeout || f.Code == abi.Cancelled) {
		return &contextError{f, cause}
	}
	return f
}

// outcome returns the Outcome of the run.
func (r *run) outcome(result *report.Result) Outcome {
	switch {
	case result.Repeated:
		return OutcomeRepeated
	case r.executed:
		return OutcomeExecuted
	case r.refused:
		return OutcomeRefused
	}
	return OutcomeNotStarted
}

// errNoContext is the error for a nil context. Like net/http, Run returns an error instead of
// panicking.
var errNoContext = abi.Faultf(abi.InvalidArgument, "the context of the run is nil")

// loadLimit returns the time limit for compiling the tool. An ad-hoc tool must compile within the
// time limit of its run.
func (r *run) loadLimit() time.Duration {
	limit := r.h.limits.LoadTimeout
	if r.inv.Code == nil {
		return limit
	}
	return min(limit, r.timeLimit())
}

// execute runs the tool in a transaction, unless the run is refused.
func (r *run) execute(ctx context.Context) (done memory.Done, err error) {
	release, err := r.identify(ctx)
	if err != nil {
		return done, err
	}
	defer release()
	if r.inv.Timeout > 0 { // an explicit timeout includes compiling and queueing
		var cancel context.CancelFunc
		ctx, cancel = r.bounded(ctx)
		defer cancel()
	}
	if r.program, err = r.tool.ready(ctx, r.info.Caller.Tenant, r.loadLimit()); err != nil {
		return done, err
	}
	r.started = time.Now() // the run is not charged for the compilation
	if err := r.ready(ctx); err != nil {
		return done, err
	}
	ctx, cancel := r.bounded(ctx)
	defer cancel()
	return r.transact(ctx)
}

// identify finds the tool and calls BeforeRun of all observers. The caller must call release when
// the run is over.
func (r *run) identify(ctx context.Context) (release func(), err error) {
	if r.h.closed.Load() {
		return nil, errHostClosed
	}
	if r.info.ID, err = r.h.newID("run"); err != nil {
		return nil, err
	}
	r.setState(RunQueued)
	if r.info.Caller.Tenant == "" {
		r.info.Caller.Tenant = DefaultTenant
	}
	if r.tool, release, err = r.h.toolOf(r.inv); err != nil {
		return nil, err
	}
	if err := r.mayRun(ctx); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// mayRun calls BeforeRun of all observers. It runs before any expensive work: nothing is compiled
// for a refused run.
func (r *run) mayRun(ctx context.Context) error {
	for _, o := range r.h.observers {
		if err := o.BeforeRun(ctx, r.info); err != nil {
			r.refused = true
			return refused(err)
		}
	}
	return nil
}

func refused(err error) error {
	if f, ok := errors.AsType[*abi.Fault](err); ok {
		return f
	}
	return abi.Faultf(abi.AccessDenied, "the run was rejected: %v", err)
}

// prepare checks the input and the context of the invocation.
func (r *run) prepare() (err error) {
	r.limits = r.h.limits.For(r.tool.Limits, r.tool.memory)
	if r.input, err = r.limits.document("input", r.inv.Input); err != nil {
		return err
	}
	if r.undeclared, err = r.tool.checkInput(r.input, r.limits); err != nil {
		return err
	}
	if r.context, err = r.contextDocument(); err != nil {
		return err
	}
	r.fingerprint = r.makeFingerprint()
	return nil
}

// transact executes the run's transaction.
func (r *run) transact(ctx context.Context) (memory.Done, error) {
	return r.h.memory.Transact(ctx, memory.Tx{
		Caller:    r.inv.Caller.as(r.info.ID),
		Authority: r.tool.authority,
		Session: session.Start{
			Reference: r.inv.SessionReference, UserReference: r.inv.UserReference, Metadata: r.inv.Metadata,
		},
		DryRun: r.inv.DryRun, LedgerEntry: r.entry(),
		Key: r.inv.Key, Fingerprint: r.fingerprint, Answer: r.storedResult,
	}, r.attempt)
}

// attempt executes the tool once, with a new View.
func (r *run) attempt(ctx context.Context, v *memory.View) error {
	r.attempts++
	r.info.Attempt = r.attempts
	a := &attempt{run: r, view: v}
	r.last = a
	var out engine.Output
	var event Execution
	r.guest(ctx, a, &out, &event)
	return a.finish(ctx, &out, &event)
}

// finish records the end of an attempt. It returns the error of the attempt.
func (a *attempt) finish(ctx context.Context, out *engine.Output, event *Execution) error {
	r := a.run
	r.cpu += event.CPU
	r.calls += a.calls
	r.peak = max(r.peak, out.MemoryBytes)
	if event.Err != nil {
		event.Err = a.runError(ctx, event.Err)
	}
	for _, o := range r.h.observers {
		o.AttemptEnded(ctx, r.info, *event)
	}
	if event.Err != nil {
		return event.Err
	}
	var err error
	if a.out, err = r.checkOutput(*out); err != nil {
		return err
	}
	for _, o := range r.h.observers {
		if err := o.AfterRun(ctx, r.info, a.out.Output, hostMemory{a.view}); err != nil {
			return refused(err)
		}
	}
	return nil
}

// guest runs the program once, after the gate has admitted the run.
func (r *run) guest(ctx context.Context, a *attempt, out *engine.Output, e *Execution) {
	e.Began, e.Isolated = time.Now(), r.tool.isolated
	r.setState(RunQueued)
	if err := r.admit(ctx); err != nil {
		e.QueueTime, e.Err = time.Since(e.Began), &engine.NotStartedError{Fault: abi.FaultOf(err)}
		return
	}
	defer r.h.gate.Release(r.flow())
	r.setState(RunRunning)
	e.QueueTime = time.Since(e.Began)
	a.runProgram(ctx, out, e)
	e.Duration = time.Since(e.Began) - e.QueueTime
	if _, never := errors.AsType[*engine.NotStartedError](e.Err); !never {
		r.executed = true
	}
}

// runProgram runs the program and measures its CPU time.
func (a *attempt) runProgram(ctx context.Context, out *engine.Output, e *Execution) {
	r := a.run
	stop := func() time.Duration { return out.CPU }
	if !r.tool.isolated {
		stop = threadCPU()
	}
	*out, e.Err = r.program.Run(ctx, engine.Input{
		Input: r.input, Context: r.context, Limits: r.limits.engine(), Domain: r.info.Caller.Tenant,
	}, a.host())
	e.CPU = stop()
}

// setState reports a new state of the run to OnState.
func (r *run) setState(state RunState) {
	if r.inv.OnState != nil && state != r.state {
		r.state = state
		r.inv.OnState(r.info.ID, state)
	}
}

// hostMemory is the Memory of an observer. It performs operations on the View of the attempt, but
// with the rights of the host.
type hostMemory struct{ view *memory.View }

// Call performs an operation for the host.
func (m hostMemory) Call(ctx context.Context, call abi.Call) (json.RawMessage, error) {
	return m.view.CallWith(ctx, memory.Operator(), call)
}

// storedResult returns the Result to store under the invocation's idempotency key.
func (r *run) storedResult(effects report.Effects) ([]byte, error) {
	text, err := json.Marshal(r.result(memory.Done{Effects: effects, Attempts: r.attempts}, nil))
	if err != nil { // the fault is not an error of the backend
		r.h.log.Error("cannot encode a result as JSON", "run", r.info.ID, "tool", r.inv.Tool, "error", err)
		return nil, abi.FaultOf(err)
	}
	return text, nil
}

// result returns the Result of the run.
func (r *run) result(done memory.Done, err error) *report.Result {
	if err == nil && done.Replayed != nil {
		return r.repeated(done.Replayed)
	}
	result := &report.Result{
		RunID: r.info.ID, Tool: r.inv.Tool, OK: err == nil, Attempts: r.attempts,
		Output: json.RawMessage("null"), Logs: []abi.LogLine{}, Warnings: []string{},
		Effects: report.Effects{Reads: []report.ReadEffect{}, Writes: []report.WriteEffect{}},
		Usage: report.Usage{
			WallMS: milliseconds(time.Since(r.started)), CPUMS: milliseconds(r.cpu),
			MemoryBytes: r.peak, HostCalls: r.calls,
		},
	}
	if r.attempts > 0 {
		if !r.tool.isolated {
			result.Warnings = append(result.Warnings, InProcessWarning)
		}
		result.Logs = append(result.Logs, r.last.logs...)
	}
	result.Warnings = append(result.Warnings, r.undeclared...)
	if done.Effects.Reads != nil {
		result.Effects = done.Effects
	}
	result.Changes = done.Changes
	if err != nil {
		result.Error = r.fault(err)
		return result
	}
	result.Output, result.Context = r.last.out.Output, r.last.out.Context
	result.Warnings = append(result.Warnings, r.last.out.Warnings...)
	result.Warnings = append(result.Warnings, schemaWarnings(done.Effects)...)
	return result
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// repeated returns the stored Result of an earlier run with the same idempotency key.
func (r *run) repeated(stored []byte) *report.Result {
	result := &report.Result{}
	if err := json.Unmarshal(stored, result); err != nil {
		return r.result(memory.Done{}, abi.Faultf(abi.Internal, "cannot read the stored result of the earlier run"))
	}
	result.Repeated = true
	return result
}

// schemaWarnings returns warnings about content that was stored although it does not match its
// schema.
func schemaWarnings(effects report.Effects) []string {
	var warnings []string
	for _, w := range effects.Writes {
		for _, v := range w.Violations {
			warnings = append(warnings, "stored despite violating the schema of "+w.Store+": "+v.String())
		}
	}
	return warnings
}

// limitHints contains hints on where to set a limit that was exceeded.
var limitHints = map[abi.Code]string{
	abi.Timeout:     "raise limits.timeout of the tool, the timeout of the request, or the host's limit",
	abi.CallLimit:   "raise limits.calls of the tool, or the host's limit",
	abi.OutputLimit: "raise limits.output of the tool, or the host's limit",
	abi.MemoryLimit: "raise limits.memory of the tool, or the host's limit",
}

// fault converts the error of a run to the fault for the caller.
func (r *run) fault(err error) *abi.Fault {
	f := r.faultOf(err)
	if hint := limitHints[f.Code]; hint != "" && f.Hint == "" && r.attempts > 0 { // before the first attempt, the compilation exceeded a limit
		return f.WithHint("%s", hint)
	}
	return f
}

func (r *run) faultOf(err error) *abi.Fault {
	if f, ok := errors.AsType[*abi.Fault](err); ok {
		return f
	}
	if errors.Is(err, context.Canceled) {
		return abi.Faultf(abi.Cancelled, "the run was canceled")
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return abi.Faultf(abi.Timeout, "the run exceeded its time limit")
	}
	if r.h.closed.Load() {
		return errHostClosed // the program was closed during the run
	}
	r.h.log.Error("a run failed with an error of the host", "run", r.info.ID, "tool", r.inv.Tool, "error", err)
	return abi.FaultOf(err)
}
