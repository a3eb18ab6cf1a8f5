package host

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/report"
)

// callTool executes a declared tool as a part of the turn. The run of the tool uses the View and
// the slot of the turn, but the grants and limits of the tool. For the tool, the agent of the turn
// is the active agent. If the tool fails, the writes of the tool are undone, and callTool returns
// the tool's fault. Any other error means that the attempt of the turn cannot continue.
func (t *turn) callTool(ctx context.Context, v *memory.View, agent, name string, input json.RawMessage) (json.RawMessage, error) {
	t.calls++
	memory.SetAgent(v, agent)
	r, err := nestedRun(ctx, t, name, input)
	if err != nil {
		return nil, nestedFault(ctx, t, v, err)
	}
	err = v.Nested(ctx, r.tool.authority, func(ctx context.Context) error { return r.executeNested(ctx, v) })
	t.include(r)
	if err != nil {
		return nil, nestedFault(ctx, t, v, err)
	}
	return r.last.out.Output, nil
}

// nestedFault converts the error of a nested run to a fault. If the attempt cannot continue,
// nestedFault returns the error unchanged.
func nestedFault(ctx context.Context, t *turn, v *memory.View, err error) error {
	if v.Err() != nil {
		return v.Err()
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if t.last.outside != nil || t.external != nil && t.external.parked {
		return errNotAdmitted
	}
	if t.external != nil && t.external.stopped != nil {
		return t.external.stopped
	}
	return t.faultOf(err)
}

// errNotAdmitted ends the attempt of a turn that has lost its slot at the gate. errNotAdmitted is
// not a fault, so an agent cannot handle it.
var errNotAdmitted = errors.New("the turn cannot continue, because it lost its slot")

// nestedRun returns a run that is ready to be executed. nestedRun also compiles the tool and checks
// the input.
func nestedRun(ctx context.Context, t *turn, name string, input json.RawMessage) (*run, error) {
	r := &run{job: newJob(t.h, Invocation{Tool: name, Caller: t.inv.Caller, Input: input, OnLog: t.onLog()}, t.act)}
	r.info, r.attempts, r.root, r.onSearch = t.info, t.attempts, &t.job, t.last.onSearch
	r.info.Tool = name
	var err error
	if r.tool, err = t.h.tool(name); err != nil {
		return nil, err
	}
	if r.program, err = compiled(ctx, t, r.tool); err != nil {
		return nil, err
	}
	if err := r.warm(ctx); err != nil {
		return nil, err
	}
	return r, r.prepare()
}

// compiled returns the program of a tool. If the tool is not compiled yet, the turn first releases
// its slot at the gate, because the compilation also needs a slot.
func compiled(ctx context.Context, t *turn, tool *tool) (program engine.Program, err error) {
	if !tool.isCompiled() {
		leave(&t.job)
		defer func() {
			if admitted := readmit(ctx, t); admitted != nil {
				program, err = nil, admitted
			}
		}()
	}
	return tool.ready(ctx, t.info.Caller.Tenant, t.h.limits.LoadTimeout)
}

// readmit waits until the turn has a slot at the gate again. If the turn gets no slot, the attempt
// cannot continue.
func readmit(ctx context.Context, t *turn) error {
	err := t.admit(ctx)
	if err != nil {
		t.last.outside = err
	}
	return err
}

// executeNested executes the tool once. The gate has already admitted the turn, so this run does
// not wait in a queue.
func (r *run) executeNested(ctx context.Context, v *memory.View) error {
	r.started = time.Now() // the compilation is not charged to the nested run
	whole := ctx
	ctx, cancel := limited(ctx, r)
	defer cancel()
	a := &attempt{run: r, view: v, ctx: whole}
	r.last = a
	var out engine.Output
	event := Execution{Began: r.started, Isolated: r.tool.isolated}
	a.runProgram(ctx, &out, &event)
	event.Duration = time.Since(event.Began)
	return a.finish(ctx, &out, &event)
}

// turnAttempt is the result of one attempt of a turn.
type turnAttempt struct {
	outcome    *report.Outcome
	evaluation *report.RuleOutcome
	// outside is the error that prevented the turn from getting a slot at the gate again, or nil.
	outside error
	// clean takes a text of a tool, and replaces the sensitive values of the agent in this text.
	clean func(text string) string
	// onSearch performs the recalls that the agent has declared for the event search:before.
	onSearch func(ctx context.Context) error
	// The following fields summarize the nested runs. cpu is the total CPU time of tools in
	// isolated processes. inProcess reports whether a tool ran in the host's process.
	logs      []abi.LogLine
	logBytes  int
	warnings  []string
	cpu       time.Duration
	inProcess bool
}

// include adds a nested run to the totals of the turn.
func (t *turn) include(r *run) {
	last := &t.last
	t.calls += r.calls
	t.peak = max(t.peak, r.peak)
	if r.tool.isolated { // without isolation, the measured time of the turn includes the nested run
		last.cpu += r.cpu
	} else {
		last.inProcess = true
	}
	if r.last == nil {
		return // the limit on nested runs was exceeded
	}
	for _, warning := range slices.Concat(r.undeclared, r.last.out.Warnings) {
		last.warnings = append(last.warnings, last.clean(warning))
	}
	for _, line := range r.last.logs {
		line.Text = last.clean(line.Text)
		last.log(line, t.h.limits)
	}
}

// onLog returns the function OnLog for nested runs, or nil. The log lines that it receives contain
// no sensitive values of the agent.
func (t *turn) onLog() func(attempt int, line abi.LogLine) {
	if t.inv.OnLog == nil {
		return nil
	}
	return func(attempt int, line abi.LogLine) {
		line.Text = t.last.clean(line.Text)
		t.inv.OnLog(attempt, line)
	}
}

// log adds a log line to the log of the turn. All nested runs together have the same limits on log
// lines as a single run.
func (l *turnAttempt) log(line abi.LogLine, limits Limits) {
	if len(l.logs) > limits.LogLines || l.logBytes > limits.LogBytes {
		return // the last line reports that some lines were dropped
	}
	if l.logBytes += len(line.Text); len(l.logs) == limits.LogLines || l.logBytes > limits.LogBytes {
		l.logBytes = limits.LogBytes + 1
		line.Level, line.Text = abi.LevelWarn, limits.truncatedLog()
	}
	l.logs = append(l.logs, line)
}
