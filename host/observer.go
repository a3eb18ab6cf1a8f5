package host

import (
	"context"
	"encoding/json"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/report"
)

// Observer observes the runs of a Host. Embed NopObserver to implement only some methods. Methods
// are called on the run's goroutine, by many runs concurrently, and must return quickly.
type Observer interface {
	// SessionStarted and SessionEnded are called for sessions that are started or ended through the
	// Host. They are not called for a session that a run starts by using it.
	SessionStarted(ctx context.Context, caller Caller)
	SessionEnded(ctx context.Context, caller Caller)
	// BeforeRun can refuse a run: the error becomes the Result's error if it is an *abi.Fault, and
	// access_denied otherwise. It is called once for each run of an existing tool, before the tool
	// is compiled and before an earlier Result is looked up by the idempotency key.
	BeforeRun(ctx context.Context, run RunInfo) error
	// AttemptEnded is called after each execution of a guest, successful or not.
	AttemptEnded(ctx context.Context, run RunInfo, event Execution)
	// AfterRun is called when the guest of an attempt has succeeded. Its writes through memory are
	// part of the run's commit. An error fails the run.
	AfterRun(ctx context.Context, run RunInfo, output json.RawMessage, memory Memory) error
	// MemoryCalled is called after each memory operation of a guest.
	MemoryCalled(ctx context.Context, run RunInfo, event CallEvent)
	// RunEnded is called once for each invocation with its Result, also if the run failed. The
	// Result's Usage belongs to this invocation only if the run's Outcome is OutcomeExecuted: a
	// Result that is returned for an idempotency key contains the usage of the earlier run.
	RunEnded(ctx context.Context, run RunInfo, result *report.Result)
}

// CodeTool is the name of the tool in RunInfo if the run is of an AdHocTool, whose own name comes
// from the caller.
const CodeTool = "code"

// Outcome classifies how an invocation ended, for observers that count runs.
type Outcome string

// The outcomes. It is "" until the invocation is over.
const (
	// OutcomeExecuted: the tool was executed at least once, successfully or not.
	OutcomeExecuted Outcome = "executed"
	// OutcomeRepeated: the Result of an earlier run was returned for the idempotency key; nothing
	// was executed.
	OutcomeRepeated Outcome = "repeated"
	// OutcomeRefused: an observer's BeforeRun refused the run; nothing was executed.
	OutcomeRefused Outcome = "refused"
	// OutcomeNotStarted: the tool was not executed for another reason, such as invalid input, a
	// compile error, or an expired deadline.
	OutcomeNotStarted Outcome = "not_started"
)

// RunInfo identifies the run of an event.
type RunInfo struct {
	ID string
	// App is the id of the host's app.
	App string
	// Tool is the name of a declared tool, or CodeTool.
	Tool    string
	Caller  Caller
	Attempt int // from 1; 0 outside of attempts
	// Outcome is set in RunEnded.
	Outcome Outcome
	// QueueTime is the time in the queue of a run that ended before it was first admitted. It is set
	// in RunEnded. The queue time of an attempt is in Execution.
	QueueTime time.Duration
}

// CallEvent is one memory operation of a guest.
type CallEvent struct {
	Call abi.Call
	// Verb is the grant that the operation requires, "" if the operation does not exist.
	Verb abi.Verb
	// Duration is how long the operation took.
	Duration time.Duration
	// Err is the error that the guest received, or nil.
	Err error

	memory *memory.Service
}

// Store returns the name of the store that the call acts on, as the guest gave it, "" if the call is malformed. The store
// need not exist if Err is set.
func (e CallEvent) Store() string {
	if e.memory == nil {
		return ""
	}
	return e.memory.StoreOf(e.Call)
}

// Execution describes one attempt of a run.
type Execution struct {
	// Began is when the attempt began. QueueTime is how long it then waited at the gate, and
	// Duration how long the guest executed after that, 0 if it never did.
	Began               time.Time
	QueueTime, Duration time.Duration
	// CPU is the processor time of the guest.
	CPU time.Duration
	// Isolated reports whether the guest ran in an isolated process.
	Isolated bool
	// Err is the error of the execution, or nil.
	Err error
}

// Memory gives an observer access to memory within the run's transaction, with all rights on all
// stores.
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

// BeforeRun refuses nothing.
func (NopObserver) BeforeRun(context.Context, RunInfo) error { return nil }

// AttemptEnded does nothing.
func (NopObserver) AttemptEnded(context.Context, RunInfo, Execution) {}

// AfterRun does nothing.
func (NopObserver) AfterRun(context.Context, RunInfo, json.RawMessage, Memory) error { return nil }

// MemoryCalled does nothing.
func (NopObserver) MemoryCalled(context.Context, RunInfo, CallEvent) {}

// RunEnded does nothing.
func (NopObserver) RunEnded(context.Context, RunInfo, *report.Result) {}
