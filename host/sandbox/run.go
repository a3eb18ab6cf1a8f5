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

// What a worker may send in a run.
const (
	maxCallBytes    = 8 << 20  // a memory call with all its arguments
	maxLogBytes     = 64 << 10 // a log line
	maxFaultBytes   = 1 << 20  // a fault, as JSON
	maxWarnings     = 100
	maxWarningBytes = 256 << 10
	maxArguments    = 16
	maxRunBytes     = 64 << 20 // input and context, which the parent sends
)

// The parts that a call or an outcome has.
const (
	outcomeOutput = iota // an output, or a reply
	outcomeFault         // an *abi.Fault as JSON
	outcomeHalted        // the host ended the run; why is not for the other end
	outcomeBroken        // an error of the worker's own, as text
)

// mostBeside is by how much more memory than its limit a guest may be said to have had.
const maxExtraMemory = 1 << 30

// exchange is a run as the parent has it.
type exchange struct {
	ctx      context.Context
	worker   *worker
	host     engine.Host
	limits   engine.Limits
	watchdog *watchdog
	table    abi.Table             // the operations that the guest has
	issued   map[string]*abi.Fault // the faults that the guest was given, by their ids
	halted   error                 // what the host ended the run with
	lines    int                   // of the log
	bytes    int                   // of the log
}

// sendRun asks the worker to run a program.
func (x *exchange) sendRun(id uint64, in engine.Input) error {
	f := x.worker.wire.frame(kindRun)
	f.number(id)
	writeInput(f, x.ctx, in, x.limits)
	return x.worker.wire.send(f)
}

// serve answers the worker until the run has an outcome. An error with lost set is that of the exchange: the worker can
// no longer be used.
func (x *exchange) serve() (out engine.Output, err error, lost bool) {
	accepted := sizes{kindCall: maxCallBytes, kindLog: maxLogBytes + 16,
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
		default:
			return x.outcome(f)
		}
		if err != nil {
			return out, err, true
		}
	}
}

// call performs a memory call of the guest's. Whether its arguments are JSON is for the host to say.
func (x *exchange) call(f *fields) error {
	call := abi.Call{Op: f.text()}
	if n := f.count(maxArguments); n > 0 {
		call.Args = make([]json.RawMessage, n)
		for i := range call.Args {
			call.Args[i] = f.optional()
		}
	}
	if err := f.end(); err != nil {
		return fmt.Errorf("read a call: %w", err)
	}
	if _, ok := x.table.Lookup(call.Op); !ok {
		return fmt.Errorf("a call of something that is no operation: %w", errProtocol)
	}
	answer := x.worker.wire.frame(kindReply)
	if x.halted == nil {
		reply, err := x.host.Call(x.ctx, call)
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

// raise hands a fault to the guest.
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
		return fmt.Errorf("write a fault: %w", err)
	}
	return x.worker.wire.send(answer.number(outcomeFault).data(text))
}

// log takes a log line. What an honest worker keeps back is over twice the limit a flood.
func (x *exchange) log(f *fields) error {
	level, text := abi.Level(f.text()), f.text()
	if err := f.end(); err != nil {
		return fmt.Errorf("read a log line: %w", err)
	}
	if x.lines, x.bytes = x.lines+1, x.bytes+len(text); x.lines > 2*x.limits.LogLines+2 || x.bytes > 2*(x.limits.LogBytes+maxLogBytes) {
		return fmt.Errorf("a flood of log lines: %w", errProtocol)
	}
	if x.halted != nil || x.host.Log == nil {
		return nil
	}
	if x.halted = x.host.Log(knownLevel(level), text); x.halted != nil {
		x.watchdog.end(x.halted) // the guest does not wait for an answer, and must not go on
	}
	return nil
}

// levelOf is a level that there is.
func knownLevel(level abi.Level) abi.Level {
	switch level {
	case abi.LevelDebug, abi.LevelWarn, abi.LevelError:
		return level
	}
	return abi.LevelInfo
}

// outcome reads what came of the run.
func (x *exchange) outcome(f *fields) (out engine.Output, err error, lost bool) {
	status := f.number()
	out.MemoryBytes = min(f.amount(), x.limits.MemoryBytes+maxExtraMemory)
	output, changes, body := f.data(), f.optional(), f.data()
	out.Warnings = f.texts(maxWarnings)
	if err := f.end(); err != nil {
		return engine.Output{}, fmt.Errorf("read an outcome: %w", err), true
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
		return engine.Output{}, fmt.Errorf("an outcome: %w", errProtocol), true
	}
	if len(output) > x.limits.OutputBytes || len(changes) > x.limits.OutputBytes {
		return out, abi.Faultf(abi.OutputLimit, "the output is larger than %d bytes", x.limits.OutputBytes), false
	}
	if !json.Valid(output) || changes != nil && !json.Valid(changes) {
		return engine.Output{}, fmt.Errorf("an output that is no JSON: %w", errProtocol), true
	}
	out.Output, out.Context = output, changes
	return out, nil, false
}

// unmarshalFault reads a fault, whose code is to be one that there is.
func unmarshalFault(text []byte, fault *abi.Fault) error {
	if json.Unmarshal(text, fault) != nil || fault.Code.Number() == 0 {
		return fmt.Errorf("a fault: %w", errProtocol)
	}
	return nil
}

// believe takes a fault that came out of the guest for the one that the host issued, if it has the id of one; the
// engine adds where it happened and what to do about it.
func (x *exchange) restoreFault(reported *abi.Fault) error {
	issued, ok := x.issued[reported.ID]
	if !ok {
		if reported.Code == abi.Timeout && x.contextEnded() {
			return engine.EndOf(x.ctx)
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

// trimmed is what a fault of the guest's, or one that its engine found, may say: not how a commit came out, nor more than
// fits a message.
func sanitized(f *abi.Fault) *abi.Fault {
	const maxText, maxStack, maxViolations = 16 << 10, 64 << 10, 100
	limit := func(text string, n int) string { return strings.ToValidUTF8(text[:min(len(text), n)], "") }
	return &abi.Fault{
		Code: f.Code, Message: limit(f.Message, maxText), Hint: limit(f.Hint, maxText),
		Op: limit(f.Op, maxNameBytes), Store: limit(f.Store, maxNameBytes), Item: limit(f.Item, maxNameBytes), Violations: f.Violations[:min(len(f.Violations), maxViolations)],
		File: limit(f.File, maxNameBytes), Line: max(f.Line, 0), Column: max(f.Column, 0), Stack: limit(f.Stack, maxStack),
	}
}

// ended reports whether the context has ended. The timer of a worker may be a little faster than that of the context.
func (x *exchange) contextEnded() bool {
	if deadline, ok := x.ctx.Deadline(); ok && time.Until(deadline) < grace {
		<-x.ctx.Done()
	}
	return x.ctx.Err() != nil
}

// writeInput writes what a run gets. Of the deadline it says how long there is: clocks differ.
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
	f.number(now)
}

// readInput reads what writeInput wrote; 0 is no deadline.
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
	return in, left
}
