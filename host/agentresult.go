package host

import (
	"cmp"
	"encoding/json"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/report"
)

// turnResult returns the result that the caller of a turn gets.
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
		TurnID: t.info.ID, Session: t.inv.Caller.Session, OK: err == nil, Outcome: t.outcome(err), Attempts: t.attempts,
		Logs: append([]abi.LogLine{}, t.last.logs...), Usage: t.usage(), Effects: effectsOr(done.Effects),
		Changes: shownChanges(t.set, done.Changes), Orphaned: t.external.orphans(),
	}
	if t.inv.Test {
		result.Remembered = done.Remembered
	}
	if err != nil {
		result.Error = t.fault(err)
	}
	result.Warnings = allWarnings(t, result.Warnings, done.Effects)
	return result
}

// outcome returns the outcome of the last attempt. If the turn failed, the outcome contains only
// the steps that led to the fault.
func (t *turn) outcome(err error) report.Outcome {
	last := t.last.outcome
	if err == nil {
		return *last
	}
	failed := *report.NewOutcome(t.info.Agent)
	if last != nil {
		failed.Warnings, failed.Trace = last.Warnings, last.Trace
	}
	return failed
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
		TurnID: t.info.ID, Session: t.inv.Caller.Session, OK: err == nil, Attempts: t.attempts,
		RuleOutcome: *report.NewRuleOutcome(t.info.Agent),
		Usage:       t.usage(), Effects: effectsOr(done.Effects), Changes: shownChanges(t.set, done.Changes),
	}
	if err != nil {
		result.Error = t.fault(err)
	} else {
		result.RuleOutcome = *t.last.evaluation
		result.Agent = cmp.Or(result.Agent, t.info.Agent)
	}
	result.Warnings = allWarnings(t, result.Warnings, done.Effects)
	return result
}

// runResult returns a Result for a turn, an evaluation or a sleepRun. Observers, the ledger and the
// meter treat each of them as a run. The argument "id" becomes the id of the run. If the turn is a
// repetition, this is the id of the first turn.
func runResult(t *turn, id string, fault *abi.Fault, effects report.Effects, repeated bool) *report.Result {
	status := report.Completed
	if fault != nil {
		status = report.Failed
	}
	return &report.Result{
		RunID: id, Status: status, OK: fault == nil, Output: json.RawMessage("null"), Logs: append([]abi.LogLine{}, t.last.logs...), Error: fault, Warnings: []string{},
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

func effectsOr(effects report.Effects) report.Effects {
	if effects.Reads == nil {
		return noEffects()
	}
	return effects
}

func noEffects() report.Effects {
	return report.Effects{Reads: []report.ReadEffect{}, Writes: []report.WriteEffect{}}
}
