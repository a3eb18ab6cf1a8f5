package host

import (
	"context"
	"encoding/json"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/approval"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/report"
)

// Observer is an interface for observing the runs of a Host. Embed NopObserver to implement only
// some methods. The host calls the methods on the goroutines of runs, so several calls can be
// concurrent. Methods must return quickly.
type Observer interface {
	// SessionStarted is called if a session is started with Sessions, and SessionEnded is called if
	// a session is ended with Sessions. If a run starts a session implicitly, SessionStarted is not
	// called.
	SessionStarted(ctx context.Context, caller Caller)
	SessionEnded(ctx context.Context, caller Caller)
	// WorkflowEnded is called if a workflow is ended with Workflows. A workflow starts implicitly.
	WorkflowEnded(ctx context.Context, caller Caller)
	// BeforeRun is called once for each run of an existing tool, before the tool is compiled and
	// before the idempotency key is looked up. BeforeRun is also called once for each turn, but not
	// for the tools that an agent calls. If the request for a turn does not name the agent,
	// RunInfo.Agent is not known yet. An implementation of BeforeRun can return an error to refuse
	// a run. An error of type *abi.Fault becomes the error of the Result. For any other error, the
	// error of the Result is the fault access_denied.
	BeforeRun(ctx context.Context, run RunInfo) error
	// AttemptEnded is called after each execution of a guest or an agent, successful or not.
	AttemptEnded(ctx context.Context, run RunInfo, event Execution)
	// AfterRun is called after the guest of an attempt has succeeded. If AfterRun writes with the
	// given Memory, these writes are part of the run's commit. If AfterRun returns an error, the
	// run fails.
	AfterRun(ctx context.Context, run RunInfo, output json.RawMessage, memory Memory) error
	// MemoryCalled is called after each memory operation of a guest.
	MemoryCalled(ctx context.Context, run RunInfo, event CallEvent)
	// RunEnded is called once for each invocation, even if the run has failed. The argument is the
	// Result of the invocation. To count usage, add the Usage of the Result only if the Outcome is
	// OutcomeExecuted. If an earlier run had the same idempotency key, the Result is that of the
	// earlier run, and contains the usage of the earlier run.
	RunEnded(ctx context.Context, run RunInfo, result *report.Result)
	// ApprovalEnded is called after a request for approval was approved or denied, or has expired.
	// The argument "caller" is the caller of the paused run. If a run requests an approval, the
	// status of its Result is "paused".
	ApprovalEnded(ctx context.Context, caller Caller, state approval.State)
}

// CodeTool is the tool name in RunInfo if the run executes an AdHocTool. The name that the caller
// has chosen for the AdHocTool is not in RunInfo.
const CodeTool = "code"

// Outcome is the outcome of an invocation. An observer that counts runs uses the Outcome to decide
// which runs count.
type Outcome string

// The outcomes. The Outcome is "" until the invocation is over.
const (
	// OutcomeExecuted means that the tool was executed at least once, successfully or not.
	OutcomeExecuted Outcome = "executed"
	// OutcomeRepeated means that the tool was not executed, because an earlier run had the same
	// idempotency key. The Result of such an invocation is the Result of the earlier run.
	OutcomeRepeated Outcome = "repeated"
	// OutcomeRefused means that the tool was not executed, because the BeforeRun method of an
	// observer refused the run.
	OutcomeRefused Outcome = "refused"
	// OutcomeNotStarted means that the tool was not executed for another reason, such as invalid
	// input, a compile error, or an expired deadline.
	OutcomeNotStarted Outcome = "not_started"
)

// RunInfo identifies the run for which a method of an Observer is called.
type RunInfo struct {
	ID string
	// App is the id of the host's app.
	App string
	// Tool is the name of a declared tool, or CodeTool. Tool is "" for a turn of an agent. Agent is
	// the name of the agent that performs a turn, or "" for the run of a tool. If an agent calls a
	// tool, Tool and Agent are both set.
	Tool  string
	Agent string
	// Sleep is true for a run of sleep-time memory. In such a run, Tool is the tool that makes
	// proposals. If a model makes the proposals, Tool is "".
	Sleep   bool
	Caller  Caller
	Attempt int // the number of the attempt, from 1, or 0 outside of attempts
	// UnrecordedMessages is the number of messages of a turn that the session's transcript does not
	// contain because they exceed a quota. UnrecordedMessages is set when RunEnded is called.
	UnrecordedMessages int
	// Outcome is set when RunEnded is called.
	Outcome Outcome
	// QueueTime is the time that the run spent in the queue, if the run ended before it was
	// admitted. QueueTime is set when RunEnded is called. For an attempt, Execution contains the
	// queue time.
	QueueTime time.Duration
}

// CallEvent is one memory operation of a guest.
type CallEvent struct {
	Call abi.Call
	// Verb is the verb that the operation requires in a grant, or "" if the operation does not
	// exist.
	Verb abi.Verb
	// Duration is the duration of the operation.
	Duration time.Duration
	// Err is the error that the guest received, or nil.
	Err error

	memory *memory.Service
}

// Store returns the store name that the guest passed, or "" if the call is malformed. If Err is not
// nil, the store might not exist.
func (e CallEvent) Store() string {
	if e.memory == nil {
		return ""
	}
	return e.memory.StoreOf(e.Call)
}

// Execution describes one attempt of a run.
type Execution struct {
	// Began is the start time of the attempt. QueueTime is the time for which the attempt waited at
	// the gate. Duration is the execution time of the guest, or 0 if the guest was not executed.
	Began               time.Time
	QueueTime, Duration time.Duration
	// CPU is the CPU time of the guest.
	CPU time.Duration
	// Isolated reports whether the guest ran in an isolated process.
	Isolated bool
	// Err is the error of the execution, or nil.
	Err error
}

// Memory is an interface that performs memory operations. The operations are part of a run's
// transaction. Memory has all rights on all stores.
type Memory interface {
	Call(ctx context.Context, call abi.Call) (json.RawMessage, error)
}

// NopObserver is an Observer that does nothing.
type NopObserver struct{}

var _ Observer = NopObserver{}

// SessionStarted does nothing.
func (NopObserver) SessionStarted(context.Context, Caller) {}

// SessionEnded does nothing.
func (NopObserver) SessionEnded(context.Context, Caller) {}

// WorkflowEnded does nothing.
func (NopObserver) WorkflowEnded(context.Context, Caller) {}

// BeforeRun refuses nothing.
func (NopObserver) BeforeRun(context.Context, RunInfo) error { return nil }

// AttemptEnded does nothing.
func (NopObserver) AttemptEnded(context.Context, RunInfo, Execution) {}

// AfterRun does nothing.
func (NopObserver) AfterRun(context.Context, RunInfo, json.RawMessage, Memory) error { return nil }

// MemoryCalled does nothing.
func (NopObserver) MemoryCalled(context.Context, RunInfo, CallEvent) {}

// ApprovalEnded does nothing.
func (NopObserver) ApprovalEnded(context.Context, Caller, approval.State) {}

// RunEnded does nothing.
func (NopObserver) RunEnded(context.Context, RunInfo, *report.Result) {}
