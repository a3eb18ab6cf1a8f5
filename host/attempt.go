package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/internal/bytesize"
)

// attempt is one execution of a guest. attempt implements the functions that the guest can call.
// attempt performs memory operations on a View.
type attempt struct {
	run     *run
	view    *memory.View
	ctx     context.Context // the context of the outermost run's attempt
	calls   int
	issued  map[string]*abi.Fault // the faults that the guest has received, by id
	waiting waiting               // the external calls that have no answer yet
	begun   uint64                // the number of external calls that the guest has begun
	// searching is the processor time that the host has used for operations on collections. The
	// processor time of the worker is not included.
	searching time.Duration
	logs      []abi.LogLine
	logBytes  int
	out       engine.Output
	// passed is the number of approved effects that the guest has reached. In a dry run, gated
	// contains a warning for each effect that would require an approval.
	passed int
	gated  []string
	// invalid contains a warning if the next approved effect is not the effect that the attempt has
	// reached.
	invalid []string
	// approved is the number of the last memory call whose approval was checked. refused is the
	// error of a memory call without its approval, or nil.
	approved int
	refused  error
}

// host returns the functions that the guest can call.
func (a *attempt) host() engine.Host {
	h := engine.Host{Call: a.call, Log: a.log}
	if len(a.run.tool.Models) > 0 {
		h.Begin, h.Await = a.beginCall, a.awaitCall
	}
	return h
}

// call performs a memory operation for the guest.
func (a *attempt) call(ctx context.Context, call abi.Call) (json.RawMessage, error) {
	if isExternal(call.Op) {
		return a.callExternal(ctx, call)
	}
	if a.calls++; a.calls > a.run.limits.Calls {
		return nil, &stop{abi.Faultf(abi.CallLimit, "the run exceeded its limit of %d memory calls", a.run.limits.Calls)}
	}
	if call.Op == abi.Recall && a.run.onSearch != nil {
		if err := a.run.onSearch(ctx); err != nil {
			return nil, a.issue(err)
		}
	}
	began := time.Now()
	reply, err := a.perform(ctx, call)
	if err == nil {
		err = a.approve(call)
	}
	if a.refused != nil {
		return nil, a.refused
	}
	if err != nil {
		err = a.issue(err)
	}
	if len(a.run.h.observers) > 0 {
		a.observe(ctx, call, time.Since(began), err)
	}
	return reply, err
}

// perform performs a memory operation. If the tool runs in a worker, perform measures the processor
// time of operations on collections, because a search can take more processor time than the tool.
func (a *attempt) perform(ctx context.Context, call abi.Call) (json.RawMessage, error) {
	if a.run.tool.isolated && (call.Op == abi.Recall || call.Op == abi.Remember || call.Op == abi.Forget) {
		stop := threadCPU()
		defer func() { a.searching += stop() }()
	}
	if call.Op == abi.Recall && a.run.tool.isGated() {
		return a.performGuarded(ctx, call)
	}
	return a.view.Call(ctx, call)
}

func (a *attempt) observe(ctx context.Context, call abi.Call, took time.Duration, err error) {
	op, _ := a.run.h.table.Lookup(call.Op)
	event := CallEvent{Call: call, Verb: op.Verb, Duration: took, Err: err, memory: a.run.h.memory}
	for _, o := range a.run.h.observers {
		o.MemoryCalled(ctx, a.run.info, event)
	}
}

// stop is an error that ends the run. Engines pass an error to the guest only if its type is
// *abi.Fault, so the guest cannot catch a stop.
type stop struct{ fault *abi.Fault }

// Error returns the message of the fault.
func (s *stop) Error() string { return s.fault.Error() }

// issue assigns an id to a fault. If the guest returns the fault, runError recognizes it by this
// id.
func (a *attempt) issue(err error) error {
	f, ok := errors.AsType[*abi.Fault](err)
	if !ok {
		return err
	}
	if a.issued == nil {
		a.issued = map[string]*abi.Fault{}
	}
	g := *f
	g.ID = strconv.Itoa(len(a.issued) + 1)
	a.issued[g.ID] = &g
	return &g
}

// engineCodes contains the codes of faults that an engine can return without a call to the host. If
// the engine cannot convert the values of a call to JSON, its fault has the code invalid_argument,
// too_large or call_limit. If this conversion fails, the call never reaches the host. A fault with
// any other code is accepted only if the host has issued this fault.
var engineCodes = map[abi.Code]bool{
	abi.CallLimit: true, abi.InvalidArgument: true, abi.TooLarge: true, abi.ToolError: true, abi.OutputInvalid: true, abi.OutputLimit: true, abi.Timeout: true, abi.Cancelled: true,
	abi.MemoryLimit: true, abi.StackLimit: true, abi.SourceInvalid: true, abi.Internal: true,
}

// runError converts an error of an engine to the error of the run.
func (a *attempt) runError(ctx context.Context, err error) error {
	if s, ok := errors.AsType[*stop](err); ok {
		return s.fault
	}
	if n, ok := errors.AsType[*engine.NotStartedError](err); ok {
		return n.Fault
	}
	f, ok := errors.AsType[*abi.Fault](err)
	if !ok {
		return err
	}
	g := *f
	g.ID, g.Violations, g.Outcome = "", nil, "" // the other fields are set only by package memory
	if issued := a.issued[f.ID]; issued != nil {
		g.Code, g.Message, g.Hint, g.Op, g.Store, g.Item, g.Violations =
			issued.Code, issued.Message, issued.Hint, issued.Op, issued.Store, issued.Item, issued.Violations
		return &g
	}
	if ctx.Err() != nil && (f.Code == abi.Timeout || f.Code == abi.Cancelled) {
		return engine.FaultFromContext(ctx)
	}
	if !engineCodes[f.Code] {
		g.Code = abi.ToolError
	}
	return &g
}

// log records a log line of the guest. If a line would exceed the limits on logs, the line is
// dropped. After the first dropped line, the log contains one line that reports this.
func (a *attempt) log(level abi.Level, text string) error {
	limits := a.run.limits
	if len(a.logs) > limits.LogLines || a.logBytes > limits.LogBytes {
		return nil
	}
	a.logBytes += len(text)
	if len(a.logs) == limits.LogLines || a.logBytes > limits.LogBytes {
		a.logBytes = limits.LogBytes + 1
		level = abi.LevelWarn
		text = limits.truncatedLog()
	}
	line := abi.LogLine{Level: level, Time: a.run.h.now(), Text: text}
	a.logs = append(a.logs, line)
	if a.run.inv.OnLog != nil {
		a.run.inv.OnLog(a.run.attempts, line)
	}
	return nil
}

// truncatedLog returns the line that reports that log lines were dropped.
func (l Limits) truncatedLog() string {
	return fmt.Sprintf("log truncated: a run can log at most %d lines and %s", l.LogLines, bytesize.Format(int64(l.LogBytes)))
}
