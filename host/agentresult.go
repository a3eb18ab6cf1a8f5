package host

import (
	"cmp"
	"encoding/json"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/agent"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/report"
)

// turnResult returns the result of a turn.
func turnResult(t *turn, done memory.Done, err error) *report.Turn {
	if err == nil && done.Replayed != nil {
		repeated := &report.Turn{}
		if json.Unmarshal(done.Replayed, repeated) == nil {
			repeated.Repeated = true
			return repeated
		}
		err = errUnreadableAnswer
	}
	result := &report.Turn{
		TurnID: t.info.ID, Session: t.inv.Caller.Session, Agent: t.info.Agent, OK: err == nil, Attempts: t.attempts,
		Messages: []string{}, Variables: map[string]any{}, Injected: map[string]any{}, Instructions: []string{},
		Warnings: allWarnings(t, nil, done.Effects), Trace: []report.TurnTrace{}, Logs: append([]abi.LogLine{}, t.last.logs...),
		Usage: t.usage(), Effects: effectsOr(done.Effects), Changes: shownChanges(t.set, done.Changes), Orphaned: t.external.orphans(),
	}
	o := t.last.outcome
	if err != nil {
		result.Error = t.fault(err)
		if o != nil { // what led to the fault
			result.Warnings, result.Trace = allWarnings(t, o.Warnings, done.Effects), traceOf(o.Trace)
		}
		return result
	}
	result.Agent, result.Messages, result.Step, result.Collecting = o.Agent, o.Messages, o.Step, o.Collecting
	result.Done, result.Blocked, result.Escalate, result.Handoff = o.Done, o.Blocked, o.Escalate, o.Handoff
	result.Variables, result.Injected, result.Instructions = o.Variables, o.Injected, o.Instructions
	result.Warnings, result.Trace = allWarnings(t, o.Warnings, done.Effects), traceOf(o.Trace)
	return result
}

// evaluationResult returns the result of an evaluation of rules.
func evaluationResult(t *turn, done memory.Done, err error) *report.Evaluation {
	if err == nil && done.Replayed != nil {
		repeated := &report.Evaluation{}
		if json.Unmarshal(done.Replayed, repeated) == nil {
			repeated.Repeated = true
			return repeated
		}
		err = errUnreadableAnswer
	}
	result := &report.Evaluation{
		TurnID: t.info.ID, Session: t.inv.Caller.Session, Agent: t.info.Agent, OK: err == nil, Attempts: t.attempts,
		Failures: []report.EvaluationFault{}, Injected: map[string]any{}, Instructions: []string{}, Stored: map[string]any{},
		Warnings: allWarnings(t, nil, done.Effects), Trace: []report.TurnTrace{},
		Usage: t.usage(), Effects: effectsOr(done.Effects), Changes: shownChanges(t.set, done.Changes),
	}
	if err != nil {
		result.Error = t.fault(err)
		return result
	}
	e := t.last.evaluation
	result.Agent, result.Blocked, result.Injected, result.Instructions, result.Stored = cmp.Or(e.Agent, result.Agent), e.Blocked, e.Injected, e.Instructions, e.Stored
	for _, f := range e.Failures {
		result.Failures = append(result.Failures, report.EvaluationFault(f))
	}
	result.Warnings, result.Trace = allWarnings(t, e.Warnings, done.Effects), traceOf(e.Trace)
	return result
}

// runResult returns the Result of a run that represents a turn or an evaluation for observers, the
// ledger and the meter. The parameter id is the id of the turn's result. A repeated turn has the id
// of the first turn.
func runResult(t *turn, id string, fault *abi.Fault, effects report.Effects, repeated bool) *report.Result {
	return &report.Result{
		RunID: id, OK: fault == nil, Output: json.RawMessage("null"), Logs: t.last.logs, Error: fault, Warnings: []string{},
		Usage: t.usage(), Effects: effects, Attempts: t.attempts, Repeated: repeated, Orphaned: t.external.orphans(),
	}
}

// allWarnings returns the warnings of the agent, the warnings of its tools, and the warnings about
// content that does not match a schema.
func allWarnings(t *turn, own []string, effects report.Effects) []string {
	all := append([]string{}, own...)
	if t.last.inProcess {
		all = append(all, InProcessWarning)
	}
	return append(append(all, t.last.warnings...), schemaWarnings(effects)...)
}

func traceOf(trace []agent.Trace) []report.TurnTrace {
	all := make([]report.TurnTrace, len(trace))
	for i, entry := range trace {
		all[i] = report.TurnTrace(entry)
	}
	return all
}

func effectsOr(effects report.Effects) report.Effects {
	if effects.Reads == nil {
		return noEffects()
	}
	return effects
}

func noEffects() report.Effects {
	return report.Effects{Reads: []report.ReadEffect{}, Writes: []report.WriteEffect{}}
}
