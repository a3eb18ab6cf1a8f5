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

// attempt binds one execution of a guest to its View. All that a guest can reach goes through here.
type attempt struct {
	run      *run
	view     *memory.View
	calls    int
	issued   map[string]*abi.Fault // the faults that the guest was given, by their ids
	logs     []abi.LogLine
	logBytes int
	out      engine.Output
}

// host is what the guest can reach.
func (a *attempt) host() engine.Host {
	return engine.Host{Call: a.call, Log: a.log}
}

// call performs a memory operation for the guest.
func (a *attempt) call(ctx context.Context, call abi.Call) (json.RawMessage, error) {
	if a.calls++; a.calls > a.run.limits.Calls {
		return nil, &stop{abi.Faultf(abi.CallLimit, "the run called memory more than %d times", a.run.limits.Calls)}
	}
	began := time.Now()
	reply, err := a.view.Call(ctx, call)
	if err != nil {
		err = a.issue(err)
	}
	if len(a.run.h.observers) > 0 {
		a.observe(ctx, call, time.Since(began), err)
	}
	return reply, err
}

func (a *attempt) observe(ctx context.Context, call abi.Call, took time.Duration, err error) {
	op, _ := a.run.h.table.Lookup(call.Op)
	event := CallEvent{Call: call, Verb: op.Verb, Took: took, Err: err, memory: a.run.h.memory}
	for _, o := range a.run.h.observers {
		o.MemoryCalled(ctx, a.run.info, event)
	}
}

// stop carries a fault past the guest, which must not catch it: an engine raises only an *abi.Fault in it.
type stop struct{ fault *abi.Fault }

// Error is the fault's.
func (s *stop) Error() string { return s.fault.Error() }

// issue marks a fault as the host's own.
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

// engineCodes are the faults that an engine may find by itself: invalid_argument, too_large and in the end call_limit for
// values that cannot become JSON and so never get to the host. Another memory fault is believed only where the host has
// issued it.
var engineCodes = map[abi.Code]bool{
	abi.CallLimit: true, abi.InvalidArgument: true, abi.TooLarge: true, abi.ToolError: true, abi.OutputInvalid: true, abi.OutputLimit: true, abi.Timeout: true, abi.Cancelled: true,
	abi.MemoryLimit: true, abi.StackLimit: true, abi.SourceInvalid: true, abi.Internal: true,
}

// verdict decides what the error of a guest's run is to the run.
func (a *attempt) verdict(ctx context.Context, err error) error {
	if s, ok := errors.AsType[*stop](err); ok {
		return s.fault
	}
	if n, ok := errors.AsType[*engine.NotRun](err); ok {
		return n.Fault
	}
	f, ok := errors.AsType[*abi.Fault](err)
	if !ok {
		return err
	}
	g := *f
	g.ID, g.Violations, g.Outcome = "", nil, "" // what only memory can tell
	if issued := a.issued[f.ID]; issued != nil {
		g.Code, g.Message, g.Hint, g.Op, g.Store, g.Item, g.Violations =
			issued.Code, issued.Message, issued.Hint, issued.Op, issued.Store, issued.Item, issued.Violations
		return &g
	}
	if ctx.Err() != nil && (f.Code == abi.Timeout || f.Code == abi.Cancelled) {
		return engine.EndOf(ctx)
	}
	if !engineCodes[f.Code] {
		g.Code = abi.ToolError
	}
	return &g
}

// log takes a line of the guest's, within the limits: what is over is dropped, with one mark.
func (a *attempt) log(level abi.Level, text string) error {
	limits := a.run.limits
	if len(a.logs) > limits.LogLines || a.logBytes > limits.LogBytes {
		return nil
	}
	a.logBytes += len(text)
	if len(a.logs) == limits.LogLines || a.logBytes > limits.LogBytes {
		a.logBytes = limits.LogBytes + 1
		level = abi.LevelWarn
		text = fmt.Sprintf("log truncated: a run may log %d lines and %s", limits.LogLines, bytesize.Format(int64(limits.LogBytes)))
	}
	line := abi.LogLine{Level: level, Time: a.run.h.now(), Text: text}
	a.logs = append(a.logs, line)
	if a.run.inv.OnLog != nil {
		a.run.inv.OnLog(a.run.attempts, line)
	}
	return nil
}
