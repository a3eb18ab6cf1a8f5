package host

import (
	"context"
	"errors"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/approval"
	"github.com/toolrun/toolrun/host/journal"
	"github.com/toolrun/toolrun/host/ledger"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/session"
)

// job is a transaction that the host performs for a caller. job is either the run of a tool or the
// turn of an agent. job contains the fields and methods that runs and turns have in common.
type job struct {
	h   *Host
	inv Invocation
	// act is the act in the ledger. label is the name of the tool or the agent in the ledger, or
	// "".
	act, label string
	info       RunInfo
	// fingerprint is the fingerprint of the request, which is stored with the idempotency key. If
	// the job has no idempotency key, fingerprint is "".
	fingerprint string
	// session is the session in the ledger entry, if the caller has no session.
	session  string
	began    time.Time // start time by the host's clock, for the ledger entry
	started  time.Time
	cpu      time.Duration
	attempts int
	calls    int
	overtime error // the cause of a context that ends at the time limit
	// external contains the external calls of the job. external is nil until the first external
	// call.
	external *externals
	// clocks contains a clock for the job, and a clock for each nested run, if they can make
	// external calls. A clock measures computing time. If this job is a nested run, root is the
	// outermost job. Otherwise root is nil.
	clocks []*clock
	root   *job
	ledger *ledger.Entry // the ledger entry of the commit
	// claim is set if the job executes an approved run again. recorded contains the answers to the
	// external calls of earlier executions.
	claim    *approval.Claim
	recorded *journal.Journal
	peak     int64
	state    RunState // the last state that OnState reported
	// refused is true if an observer has refused the job. executed is true if the tool or the agent
	// was executed.
	refused, executed bool
	// admitted is true while the job has a slot at the gate, and also while the job is parked.
	admitted bool
	// machine is true if the job executes a machine.
	machine bool
}

// newJob returns a job that has not started yet.
func newJob(h *Host, inv Invocation, act string) job {
	if inv.Test {
		inv.DryRun, inv.Live = true, false
	}
	return job{h: h, inv: inv, act: act, began: h.now(), started: time.Now(), info: RunInfo{App: h.app.ID, Tool: inv.Tool, Caller: inv.Caller}}
}

// identify gives the job an id that begins with the given prefix. identify looks up the tool or the
// agent with the function "find". Then it calls BeforeRun of all observers.
func (j *job) identify(ctx context.Context, prefix string, find func() error) (err error) {
	if j.h.closed.Load() {
		return errHostClosed
	}
	if j.info.ID == "" { // the run was not paused
		if j.info.ID, err = j.h.newID(prefix); err != nil {
			return err
		}
	}
	j.setState(RunQueued)
	if j.info.Caller.Tenant == "" {
		j.info.Caller.Tenant = DefaultTenant
	}
	if err := find(); err != nil {
		return err
	}
	return j.mayRun(ctx)
}

// mayRun calls BeforeRun of all observers. The host calls mayRun before any expensive work, so it
// compiles no tool for a refused job.
func (j *job) mayRun(ctx context.Context) error {
	for _, o := range j.h.observers {
		if err := o.BeforeRun(ctx, j.info); err != nil {
			j.refused = true
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

// bounded returns a context that ends when the job exceeds the given time limit.
func (j *job) bounded(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if j.overtime == nil {
		j.overtime = abi.Faultf(abi.Timeout, "the run exceeded its time limit (%s)", limit)
	}
	return context.WithDeadlineCause(ctx, j.started.Add(limit), j.overtime)
}

// tx returns the configuration of the job's transaction.
func (j *job) tx(a memory.Authority, answer func(report.Effects) ([]byte, error)) *memory.Tx {
	j.ledger = j.entry()
	return &memory.Tx{
		Caller:    j.inv.Caller.as(j.info.ID),
		Authority: a,
		Session: session.Start{
			Reference: j.inv.SessionReference, UserReference: j.inv.UserReference, Metadata: j.inv.Metadata,
		},
		DryRun: j.inv.DryRun, LedgerEntry: j.ledger,
		Key: j.inv.Key, Fingerprint: j.fingerprint, Answer: answer, Claim: j.claim,
	}
}

// setState reports a new state of the job to OnState.
func (j *job) setState(state RunState) {
	if j.inv.OnState != nil && state != j.state {
		j.state = state
		j.inv.OnState(j.info.ID, state)
	}
}

// end records the end of the job. end is a separate function, so its variables do not use stack
// space while a guest runs. A small stack is important, because Go copies a stack whenever it grows
// beyond a power of two. For the same reason, observers are also called in separate functions.
func (j *job) end(ctx context.Context, recorded bool, result *report.Result) error {
	j.external.close()
	if result.Error == nil {
		j.external.shareVectors()
	}
	j.record(recorded, result)
	j.info.Outcome = j.outcome(result)
	j.h.meter.add(j.info.Caller.Tenant, j.began, j.used(result))
	for _, o := range j.h.observers {
		o.RunEnded(ctx, j.info, result)
	}
	if result.Error != nil {
		return endError(ctx, result.Error)
	}
	return nil
}

// outcome returns the Outcome of the job.
func (j *job) outcome(result *report.Result) Outcome {
	switch {
	case result.Repeated:
		return OutcomeRepeated
	case j.executed:
		return OutcomeExecuted
	case j.refused:
		return OutcomeRefused
	}
	return OutcomeNotStarted
}

// usage returns what the job has used so far.
func (j *job) usage() report.Usage {
	return report.Usage{
		WallMS: milliseconds(time.Since(j.started)), CPUMS: milliseconds(j.cpu), MemoryBytes: j.peak, HostCalls: j.calls,
		Model: j.external.used(),
	}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// contextError is the error of a job that ended because the caller's context ended. A contextError
// wraps the fault and the error of the context.
type contextError struct {
	*abi.Fault
	cause error
}

// Unwrap returns the fault and the error of the context.
func (e *contextError) Unwrap() []error { return []error{e.Fault, e.cause} }

// endError returns the error that the caller of a job gets. If the job ended because the caller's
// context ended, the error is a contextError. In all other cases, the error is the fault.
func endError(ctx context.Context, f *abi.Fault) error {
	if cause := ctx.Err(); cause != nil && (f.Code == abi.Timeout || f.Code == abi.Cancelled) {
		return &contextError{f, cause}
	}
	return f
}

// limitHints contains a hint for each limit. If a run exceeds the limit, the hint describes where
// the limit can be set.
var limitHints = map[abi.Code]string{
	abi.Timeout:     "raise limits.timeout of the tool, the timeout of the request, or the host's limit",
	abi.CallLimit:   "make fewer memory calls in a run, or raise limits.calls of the tool, or the host's limit",
	abi.OutputLimit: "raise limits.output of the tool, or the host's limit",
	abi.MemoryLimit: "raise limits.memory of the tool, or the host's limit",
}

// fault converts the error of a job to the fault that the caller gets.
func (j *job) fault(err error) *abi.Fault {
	f := j.faultOf(err)
	if hint := limitHints[f.Code]; hint != "" && f.Hint == "" && j.attempts > 0 { // the hints do not apply to compilations
		return f.WithHint("%s", hint)
	}
	return f
}

func (j *job) faultOf(err error) *abi.Fault {
	if f, ok := errors.AsType[*abi.Fault](err); ok {
		return f
	}
	if s, ok := errors.AsType[*stop](err); ok {
		return s.fault
	}
	if errors.Is(err, context.Canceled) {
		return abi.Faultf(abi.Cancelled, "the run was canceled")
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return abi.Faultf(abi.Timeout, "the run exceeded its time limit")
	}
	if j.h.closed.Load() {
		return errHostClosed // the program was closed during the run
	}
	j.h.log.Error("a run failed with an error of the host", "run", j.info.ID, "tool", j.inv.Tool, "error", err)
	return abi.FaultOf(err)
}
