package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/machine"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/report"
)

// InProcessWarning is the warning in the Result of a run that was executed in the host's own
// process.
const InProcessWarning = "the tool ran in the host's process: only the engine isolates it from files, the network and other memory"

// run is the execution of one Invocation.
type run struct {
	job
	tool    *tool
	program engine.Program
	input   json.RawMessage
	context json.RawMessage
	// undeclared contains warnings about undeclared members of the input.
	undeclared []string
	limits     Limits // of an attempt
	last       *attempt
	// onSearch is called before each call of recall, if an agent executes the tool. Otherwise,
	// onSearch is nil.
	onSearch func(ctx context.Context) error
	// paused is the clock of the run until the first attempt, if the tool can make external calls
	// and the run has an idempotency key. Until then, the clock is stopped. The time for which the
	// run waits for an earlier run with the same key does not count as computing time.
	paused *clock
	// The field "same" contains values that are the same in all executions of the run.
	same repeatable
	// approval is the approval for which the run waits, if the run is paused.
	approval *report.PendingApproval
}

// Run executes a tool once. The returned Result is never nil. If the run fails, the returned error
// is the fault in the Result. For example, use errors.Is(err, abi.Timeout) to check for a timeout.
// If ctx ends before the run has begun to commit, the run is stopped. The error of a stopped run
// also wraps ctx.Err().
func (h *Host) Run(ctx context.Context, inv Invocation) (*report.Result, error) {
	r := newRun(h, &inv)
	if ctx == nil {
		return r.result(memory.Done{}, errNoContext), errNoContext
	}
	done, err := r.execute(ctx)
	result := r.result(done, err)
	return result, r.end(ctx, done.Recorded, result)
}

// newRun returns a run that has not started yet. If the invocation names no tool, newRun sets the
// tool of the invocation. The invocation is passed by pointer, because a copy would use space on
// the stack of the run; see TestStackOfRun.
func newRun(h *Host, inv *Invocation) *run {
	inv.Tool = inv.toolName(h.app)
	r := &run{job: newJob(h, *inv, actRun)}
	if inv.Code != nil {
		r.info.Tool = CodeTool
	}
	return r
}

// errNoContext is the error that Run returns if the context is nil. Like net/http, Run returns an
// error in this case and does not panic.
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

// execute runs the tool in a transaction, unless an observer refuses the run. If the run needs an
// approval, execute pauses the run.
func (r *run) execute(ctx context.Context) (done memory.Done, err error) {
	release, err := findTool(ctx, r)
	if release != nil {
		defer release()
	}
	if err != nil {
		return done, err
	}
	whole, cancel := untilDeadline(ctx, r)
	defer cancel()
	ctx = whole
	if r.inv.Timeout > 0 { // compiling and queueing count toward an explicit timeout
		ctx, cancel = r.bounded(ctx, r.timeLimit())
		defer cancel()
	}
	if r.program, err = r.tool.ready(ctx, r.info.Caller.Tenant, r.loadLimit()); err != nil {
		return done, err
	}
	r.started = time.Now() // the compilation is not charged to the run
	if err := r.ready(ctx); err != nil {
		return done, err
	}
	if r.tool.external() {
		ctx = whole // waiting for answers does not count toward the time limit
	}
	ctx, cancel = limited(ctx, r)
	defer cancel()
	tx := r.tx(r.tool.authority, r.storedResult)
	tx.Seed = r.same.ItemSeed
	done, err = r.h.memory.Transact(ctx, tx, r.attempt)
	if p, ok := errors.AsType[*pauseError](err); ok {
		return pause(whole, r, p)
	}
	return done, err
}

// findTool sets the tool of the run. If the returned function "release" is not nil, the caller must
// call this function after the run.
func findTool(ctx context.Context, r *run) (release func(), err error) {
	err = r.identify(ctx, "run", func() (err error) {
		if r.tool, release, err = r.h.toolOf(r.inv); err == nil {
			r.label, r.machine = r.inv.Tool, path.Ext(r.tool.Source) == machine.Extension
		}
		return err
	})
	return release, err
}

// untilDeadline returns a context that ends at the deadline of the invocation. If the invocation
// has no deadline, untilDeadline returns ctx.
func untilDeadline(ctx context.Context, r *run) (context.Context, context.CancelFunc) {
	if r.inv.Deadline <= 0 {
		return ctx, func() {}
	}
	late := abi.Faultf(abi.Timeout, "the run exceeded its deadline (%s)", r.inv.Deadline).WithHint("raise the deadline of the request")
	return context.WithDeadlineCause(ctx, r.started.Add(r.inv.Deadline), late)
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
	if r.tool.external() && r.limits.CPU == 0 {
		r.limits.CPU = 2 * r.timeLimit() // the engine's default would depend on the deadline
	}
	if r.tool.isGated() {
		return r.same.start(r.h)
	}
	return nil
}

// attempt executes the tool once, with a new View.
func (r *run) attempt(ctx context.Context, v *memory.View) error {
	if r.paused != nil {
		r.paused.resume()
		r.paused = nil
	}
	r.attempts++
	r.info.Attempt = r.attempts
	a := &attempt{run: r, view: v, ctx: ctx}
	r.last = a
	memory.SetEmbedder(v, embeddings{&r.job, v, ctx, r.tool.Approval.Before})
	memory.SetMocks(v, r.inv.Recalls, r.inv.Test)
	if err := beginExternal(ctx, &r.job, v); err != nil {
		return a.runError(ctx, err)
	}
	var out engine.Output
	var event Execution
	r.guest(ctx, a, &out, &event)
	return a.finish(ctx, &out, &event)
}

// finish records the end of an attempt and returns the error of the attempt.
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
	if n := len(a.waiting.calls); n > 0 {
		a.out.Warnings = append(a.out.Warnings, fmt.Sprintf("the tool did not await %d external calls, which were canceled or not made", n))
	}
	a.out.Warnings = append(a.out.Warnings, a.gated...)
	noteExternal(&r.job, r.ledger)
	for _, o := range r.h.observers {
		if err := o.AfterRun(ctx, r.info, a.out.Output, hostMemory{a.view}); err != nil {
			return refused(err)
		}
	}
	return nil
}

// guest waits until the gate admits the run. Then it runs the program once.
func (r *run) guest(ctx context.Context, a *attempt, out *engine.Output, e *Execution) {
	e.Began, e.Isolated = time.Now(), r.tool.isolated
	r.setState(RunQueued)
	if err := r.admit(ctx); err != nil {
		e.QueueTime, e.Err = time.Since(e.Began), &engine.NotStartedError{Fault: abi.FaultOf(err)}
		return
	}
	defer leave(&r.job)
	r.setState(RunRunning)
	e.QueueTime = time.Since(e.Began)
	a.runProgram(ctx, out, e)
	if e.Err == nil {
		e.Err = a.complete(ctx)
	}
	e.CPU += a.searching
	e.Duration = time.Since(e.Began) - e.QueueTime
	if _, never := errors.AsType[*engine.NotStartedError](e.Err); !never {
		r.executed = true
	}
}

// complete computes the missing vectors of the entries that the tool has stored. complete is called
// while the run has a slot at the gate.
func (a *attempt) complete(ctx context.Context) error {
	if !memory.NeedsCompletion(a.view) {
		return nil
	}
	stop := threadCPU()
	defer func() { a.searching += stop() }()
	if err := memory.Complete(ctx, a.view); err != nil {
		return a.issue(err)
	}
	return nil
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
		Now: r.same.Now, Seed: r.same.Seed, Frozen: r.same.Seed != 0,
	}, a.host())
	e.CPU = stop()
}

// hostMemory is the Memory that an observer gets. The operations of hostMemory use the View of the
// attempt and have the rights of the host.
type hostMemory struct{ view *memory.View }

// Call performs an operation for the host.
func (m hostMemory) Call(ctx context.Context, call abi.Call) (json.RawMessage, error) {
	return m.view.CallWith(ctx, memory.Operator(), call)
}

// storedResult returns the Result that is stored under the invocation's idempotency key.
func (r *run) storedResult(effects report.Effects) ([]byte, error) {
	text, err := json.Marshal(r.result(memory.Done{Effects: effects, Attempts: r.attempts}, nil))
	if err != nil { // the error is a fault, not an error of the backend
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
		RunID: r.info.ID, Tool: r.inv.Tool, Status: report.Completed, OK: err == nil, Attempts: r.attempts,
		Output: json.RawMessage("null"), Logs: []abi.LogLine{}, Warnings: []string{},
		Effects: noEffects(), Usage: r.usage(), Orphaned: r.external.orphans(),
	}
	if r.attempts > 0 {
		if !r.tool.isolated {
			result.Warnings = append(result.Warnings, InProcessWarning)
		}
		result.Logs = append(result.Logs, r.last.logs...)
	}
	result.Warnings = append(result.Warnings, r.undeclared...)
	result.Warnings = append(result.Warnings, mockWarnings(r.h.app, r.inv.Recalls)...)
	if r.approval != nil {
		result.Status, result.OK, result.Approval = report.Paused, false, r.approval
		result.Warnings = append(result.Warnings, r.last.invalid...)
		return result
	}
	if done.Effects.Reads != nil {
		result.Effects = done.Effects
	}
	result.Changes = done.Changes
	if r.inv.Test {
		result.Remembered = done.Remembered
	}
	if err != nil {
		result.Status, result.Error = report.Failed, r.fault(err)
		return result
	}
	result.Output, result.Context = r.last.out.Output, r.last.out.Context
	result.Warnings = append(result.Warnings, r.last.out.Warnings...)
	result.Warnings = append(result.Warnings, schemaWarnings(done.Effects)...)
	return result
}

// The method repeated returns the stored Result of an earlier run with the same idempotency key. If
// the stored Result cannot be read, the method returns a Result with the fault internal.
func (r *run) repeated(stored []byte) *report.Result {
	result := &report.Result{}
	if err := json.Unmarshal(stored, result); err != nil {
		return r.result(memory.Done{}, abi.Faultf(abi.Internal, "cannot read the stored result of the earlier run"))
	}
	result.Repeated = true
	return result
}

// schemaWarnings returns warnings about content that was stored although it violates its schema.
func schemaWarnings(effects report.Effects) []string {
	var warnings []string
	for _, w := range effects.Writes {
		for _, v := range w.Violations {
			warnings = append(warnings, "the content was stored, but it violates the schema of "+w.Store+": "+v.String())
		}
	}
	return warnings
}
