package host

import (
	"context"
	"encoding/json"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/report"
)

// Observer is told what a Host does. Embed NopObserver to implement a part of it. Its methods are called
// by the goroutine of the run and must return soon; they are called by many runs at once.
type Observer interface {
	// SessionStarted and SessionEnded tell of sessions that were started or ended through the Host; one that a
	// run used first is not announced.
	SessionStarted(ctx context.Context, caller Caller)
	SessionEnded(ctx context.Context, caller Caller)
	// BeforeRun may refuse a run: with an *abi.Fault, which becomes the Result's error, or with any other error,
	// which becomes access_denied. It is called once for each run of a tool that exists, before the tool is compiled
	// and before the host looks for an earlier Result under the idempotency key.
	BeforeRun(ctx context.Context, run RunInfo) error
	// Executed is called after each execution of a guest, whatever came of it.
	Executed(ctx context.Context, run RunInfo, event Execution)
	// AfterRun is called when the guest of an attempt has succeeded. What it writes through memory is part of
	// the run's own commit; an error fails the run.
	AfterRun(ctx context.Context, run RunInfo, output json.RawMessage, memory Memory) error
	// MemoryCalled is called after each memory operation of a guest.
	MemoryCalled(ctx context.Context, run RunInfo, event CallEvent)
	// Committed is called once for each invocation with its Result, also if it failed and stored nothing. Only if the
	// Outcome of run is OutcomeExecuted, the Usage of the Result was used by this invocation: one that is answered
	// with an earlier run's Result has that run's.
	Committed(ctx context.Context, run RunInfo, result *report.Result)
}

// CodeTool is what observers hear of as the tool where the run is of a Code: its name is the caller's.
const CodeTool = "code"

// Outcome classifies how an invocation ended, for observers that count runs.
type Outcome string

// The outcomes. An invocation that is not over has none, "".
const (
	// OutcomeExecuted: the tool was executed at least once, whatever it ended with.
	OutcomeExecuted Outcome = "executed"
	// OutcomeRepeated: an earlier run's Result was returned for the idempotency key, and nothing was executed.
	OutcomeRepeated Outcome = "repeated"
	// OutcomeRefused: BeforeRun of an observer refused the run, and nothing was executed.
	OutcomeRefused Outcome = "refused"
	// OutcomeNotStarted: the tool was not executed for another reason, such as an invalid input, a tool that does not
	// compile, or a deadline that passed before.
	OutcomeNotStarted Outcome = "not_started"
)

// RunInfo says which run an event is about.
type RunInfo struct {
	ID string
	// App is the id of the host's app.
	App string
	// Tool is the name of a declared tool, or CodeTool.
	Tool    string
	Caller  Caller
	Attempt int // from 1; 0 outside of attempts
	// Outcome is set in Committed.
	Outcome Outcome
	// Waited is set in Committed for a run that ended before its first turn came: how long it had waited. The waiting of
	// attempts is in Execution.
	Waited time.Duration
}

// CallEvent is one memory operation that a guest asked for.
type CallEvent struct {
	Call abi.Call
	// Verb is the grant that the operation needs, "" if memory has no such operation.
	Verb abi.Verb
	Took time.Duration
	// Err is what the guest got instead of a reply, or nil.
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

// Execution is how an attempt of a run went.
type Execution struct {
	// Began is when the attempt did, Waited how long it waited then for its turn, and Took how long the guest was executed
	// after that; 0 where it never was.
	Began        time.Time
	Waited, Took time.Duration
	// CPU is the processor time that the guest took.
	CPU time.Duration
	// Walled says that the guest had a process of its own.
	Walled bool
	// Err is what the execution ended with, or nil.
	Err error
}

// Memory is what an observer may do in a run's own transaction: everything, on every store.
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

// Executed does nothing.
func (NopObserver) Executed(context.Context, RunInfo, Execution) {}

// AfterRun does nothing.
func (NopObserver) AfterRun(context.Context, RunInfo, json.RawMessage, Memory) error { return nil }

// MemoryCalled does nothing.
func (NopObserver) MemoryCalled(context.Context, RunInfo, CallEvent) {}

// Committed does nothing.
func (NopObserver) Committed(context.Context, RunInfo, *report.Result) {}
