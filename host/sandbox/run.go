package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
)

// The limits on the data that a worker sends during a run.
const (
	maxCallBytes    = 8 << 20  // a memory call with all its arguments
	maxLogBytes     = 64 << 10 // a log line
	maxFaultBytes   = 1 << 20  // a fault, as JSON
	maxWarnings     = 100
	maxWarningBytes = 256 << 10
	maxArguments    = 16
	maxRunBytes     = 64 << 20 // the input and the context, which the parent sends
)

// The statuses of a reply or an outcome.
const (
	outcomeOutput = iota // success, with an output or a reply
	outcomeFault         // an *abi.Fault as JSON
	outcomeHalted        // the host ended the run; the worker does not receive the reason
	outcomeBroken        // an error of the worker itself, as text
)

// maxExtraMemory is the maximum number of bytes by which the memory use that a worker reports can
// exceed the memory limit of the run. The host reduces a larger value to this maximum.
const maxExtraMemory = 1 << 30

// exchange is the state of a run in the parent process.
type exchange struct {
	ctx      context.Context
	worker   *worker
	host     engine.Host
	limits   engine.Limits
	watchdog *watchdog
	table    abi.Table // the operations of the guest
	external externalExchange
	issued   map[string]*abi.Fault // the faults that the guest received, by ID
	halted   error                 // the error with which the host ended the run
	lines    int                   // the number of log lines received
	bytes    int                   // the size of the log lines received
}

// sendRun sends a run request to the worker.
func (x *exchange) sendRun(id uint64, in engine.Input) error {
	f := x.worker.wire.frame(kindRun)
	f.number(id)
	writeInput(f, x.ctx, in, x.limits)
	f.number(bit(x.host.Begin != nil))
	return x.worker.wire.send(f)
}

// serve handles the worker's frames until the run has an outcome. If the result "lost" is true, the
// result "err" is an error of the protocol or a pipe, and the worker can no longer be used.
func (x *exchange) serve() (out engine.Output, err error, lost bool) {
	accepted := sizes{kindCall: maxCallBytes, kindLog: maxLogBytes + 16, kindBegin: maxCallBytes + 16, kindWait: 16,
		kindOutcome: 2*x.limits.OutputBytes + maxFaultBytes + maxWarningBytes}
	for {
		k, f, err := x.worker.wire.receive(&accepted)
		if err != nil {
			return out, err, true
		}
		x.worker.unproven = false
		switch k {
		case kindCall:
			err = x.call(f)
		case kindLog:
			err = x.log(f)
		case kindBegin:
			err = x.begin(f)
		case kindWait:
			err = x.wait(f)
		default:
			return x.outcome(f)
		}
		if err != nil {
			return out, err, true
		}
	}
}

// call performs a memory call of the guest. The host checks that the arguments are JSON, because it
// does not trust the worker.
func (x *exchange) call(f *fields) error {
	call, external, err := x.readCall(f)
	if err != nil {
		return err
	}
	answer := x.worker.wire.frame(kindReply)
	if x.halted == nil {
		reply, err := x.perform(call, external)
		if err == nil {
			return x.worker.wire.send(answer.number(outcomeOutput).data(reply))
		}
		if fault, ok := err.(*abi.Fault); ok {
			return x.replyFault(answer, fault)
		}
		x.halted = err
		x.watchdog.startGrace()
	}
	return x.worker.wire.send(answer.number(outcomeHalted))
}

// readCall reads an operation of the guest, and reports whether it is an external operation.
func (x *exchange) readCall(f *fields) (call abi.Call, external bool, err error) {
	call.Op = f.text()
	if n := f.count(maxArguments); n > 0 {
		call.Args = make([]json.RawMessage, n)
		for i := range call.Args {
			call.Args[i] = f.optional()
		}
	}
	if err := f.end(); err != nil {
		return call, false, fmt.Errorf("read call: %w", err)
	}
	op, ok := x.table.Lookup(call.Op)
	if !ok {
		return call, false, fmt.Errorf("call to an unknown operation: %w", errProtocol)
	}
	return call, op.External, nil
}

// perform performs an operation of the guest. During an external operation, the worker releases its
// slot.
func (x *exchange) perform(call abi.Call, external bool) (reply json.RawMessage, err error) {
	if !external {
		return x.host.Call(x.ctx, call)
	}
	err = x.withoutSlot(func() error {
		reply, err = x.host.Call(x.ctx, call)
		return err
	})
	return reply, err
}

// replyFault sends a fault to the guest.
func (x *exchange) replyFault(answer *frame, fault *abi.Fault) error {
	sent := *fault
	if x.issued == nil {
		x.issued = map[string]*abi.Fault{}
	}
	if sent.ID == "" {
		sent.ID = fmt.Sprintf("worker %d", len(x.issued))
	}
	x.issued[sent.ID] = fault
	text, err := json.Marshal(&sent)
	if err != nil {
		return fmt.Errorf("write fault: %w", err)
	}
	return x.worker.wire.send(answer.number(outcomeFault).data(text))
}

// log handles a log line. A correct worker never exceeds the limit on log lines. If the log lines
// of a worker exceed twice the limit, the worker is hostile, and the method returns an error.
func (x *exchange) log(f *fields) error {
	level, text := abi.Level(f.text()), f.text()
	if err := f.end(); err != nil {
		return fmt.Errorf("read log line: %w", err)
	}
	if x.lines, x.bytes = x.lines+1, x.bytes+len(text); x.lines > 2*x.limits.LogLines+2 || x.bytes > 2*(x.limits.LogBytes+maxLogBytes) {
		return fmt.Errorf("too many log lines: %w", errProtocol)
	}
	if x.halted != nil || x.host.Log == nil {
		return nil
	}
	if x.halted = x.host.Log(knownLevel(level), text); x.halted != nil {
		x.watchdog.end(x.halted) // the guest does not wait for a reply, so the worker must be stopped
	}
	return nil
}

// knownLevel returns the given level, or LevelInfo if the level is unknown.
func knownLevel(level abi.Level) abi.Level {
	switch level {
	case abi.LevelDebug, abi.LevelWarn, abi.LevelError:
		return level
	}
	return abi.LevelInfo
}

// outcome reads the result of the run.
func (x *exchange) outcome(f *fields) (out engine.Output, err error, lost bool) {
	status := f.number()
	out.MemoryBytes = min(f.amount(), x.limits.MemoryBytes+maxExtraMemory)
	output, changes, body := f.data(), f.optional(), f.data()
	out.Warnings = f.texts(maxWarnings)
	if err := f.end(); err != nil {
		return engine.Output{}, fmt.Errorf("read outcome: %w", err), true
	}
	switch {
	case x.halted != nil:
		return out, x.halted, false
	case status == outcomeFault:
		fault := &abi.Fault{}
		if err := unmarshalFault(body, fault); err != nil {
			return engine.Output{}, err, true
		}
		return out, x.restoreFault(fault), false
	case status == outcomeBroken:
		return engine.Output{}, errors.New(string(body)), true
	case status != outcomeOutput:
		return engine.Output{}, fmt.Errorf("decode outcome: %w", errProtocol), true
	}
	if len(output) > x.limits.OutputBytes || len(changes) > x.limits.OutputBytes {
		return out, abi.Faultf(abi.OutputLimit, "the output exceeds %d bytes", x.limits.OutputBytes), false
	}
	if !json.Valid(output) || changes != nil && !json.Valid(changes) {
		return engine.Output{}, fmt.Errorf("the output is not valid JSON: %w", errProtocol), true
	}
	out.Output, out.Context = output, changes
	return out, nil, false
}

// unmarshalFault reads a fault and checks its code.
func unmarshalFault(text []byte, fault *abi.Fault) error {
	if json.Unmarshal(text, fault) != nil || fault.Code.Number() == 0 {
		return fmt.Errorf("decode fault: %w", errProtocol)
	}
	return nil
}

// restoreFault looks for a fault of the host that has the same ID as the guest's fault, and returns
// the host's fault. The returned fault has the location of the guest's fault. If the host's fault
// has no hint, the returned fault has the hint of the guest's fault. If the host issued no fault
// with the ID of the guest's fault, restoreFault returns the guest's fault without untrusted
// fields.
func (x *exchange) restoreFault(reported *abi.Fault) error {
	issued, ok := x.issued[reported.ID]
	if !ok {
		if reported.Code == abi.Timeout && x.contextEnded() {
			return engine.FaultFromContext(x.ctx)
		}
		return sanitized(reported)
	}
	fault := *issued
	fault.File, fault.Line, fault.Column, fault.Stack = reported.File, reported.Line, reported.Column, reported.Stack
	if fault.Hint == "" {
		fault.Hint = reported.Hint
	}
	return &fault
}

// sanitized returns a copy of a fault. The copy omits the fields that a guest must not set, such as
// the outcome of a commit. Long texts are truncated in the copy.
func sanitized(f *abi.Fault) *abi.Fault {
	const maxText, maxStack, maxViolations = 16 << 10, 64 << 10, 100
	limit := func(text string, n int) string { return strings.ToValidUTF8(text[:min(len(text), n)], "") }
	return &abi.Fault{
		Code: f.Code, Message: limit(f.Message, maxText), Hint: limit(f.Hint, maxText),
		Op: limit(f.Op, maxNameBytes), Store: limit(f.Store, maxNameBytes), Item: limit(f.Item, maxNameBytes), Violations: f.Violations[:min(len(f.Violations), maxViolations)],
		File: limit(f.File, maxNameBytes), Line: max(f.Line, 0), Column: max(f.Column, 0), Stack: limit(f.Stack, maxStack),
	}
}

// contextEnded reports whether the context has ended. A worker's timer can fire slightly before the
// timer of the context.
func (x *exchange) contextEnded() bool {
	if deadline, ok := x.ctx.Deadline(); ok && time.Until(deadline) < grace {
		<-x.ctx.Done()
	}
	return x.ctx.Err() != nil
}

// writeInput writes the input of a run. writeInput writes the deadline as the remaining time,
// because clocks differ between processes.
func writeInput(f *frame, ctx context.Context, in engine.Input, limits engine.Limits) {
	left := uint64(0)
	if deadline, ok := ctx.Deadline(); ok {
		left = uint64(max(time.Until(deadline), 1))
	}
	f.number(left).data(in.Input).data(in.Context)
	for _, n := range []int64{int64(limits.CallDepth), int64(limits.ValueNesting), int64(limits.OutputBytes), limits.MemoryBytes,
		int64(limits.LogLines), int64(limits.LogBytes), limits.Fuel, in.Seed} {
		f.number(uint64(n))
	}
	now := uint64(0)
	if !in.Now.IsZero() {
		now = uint64(in.Now.UnixNano())
	}
	frozen := uint64(0)
	if in.Frozen {
		frozen = 1
	}
	f.number(now).number(frozen)
}

// readInput reads the fields that writeInput wrote. If the result "left" is 0, the run has no
// deadline.
func readInput(f *fields) (in engine.Input, left time.Duration) {
	left = time.Duration(f.amount())
	in.Input, in.Context = f.data(), f.data()
	number := func() int { return int(f.number()) }
	in.Limits.CallDepth, in.Limits.ValueNesting, in.Limits.OutputBytes = number(), number(), number()
	in.Limits.MemoryBytes = int64(f.number())
	in.Limits.LogLines, in.Limits.LogBytes = number(), number()
	in.Limits.Fuel = int64(f.number())
	in.Seed = int64(f.number())
	if now := f.number(); now != 0 {
		in.Now = time.Unix(0, int64(now)).UTC()
	}
	in.Frozen = f.number() == 1
	return in, left
}
