package agent

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/agent/abl"
	"github.com/toolrun/toolrun/host/problem"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/internal/spell"
)

// Fire performs the recalls that an agent has for an event. Fire returns the facts and the
// instructions that the recalls add. If r.Variables is nil, the returned facts also become injected
// values of the session.
func (s *Set) Fire(ctx context.Context, env Env, r Rules) (*report.RuleOutcome, error) {
	if err := checkEvent(r.Event); err != nil {
		return nil, err
	}
	e, err := s.evaluate(ctx, env, r)
	if err != nil {
		return nil, err
	}
	err = e.rules.fire(ctx, r.Event)
	if err == nil && r.Variables == nil {
		err = env.SetSession(ctx, e.rules.mem.session)
	}
	return e.result(err)
}

// checkEvent returns a fault if a text is not the name of an event.
func checkEvent(event string) error {
	_, err := abl.ParseEvent(event)
	var mistake problem.Problem
	if errors.As(err, &mistake) {
		return abi.Faultf(abi.InvalidArgument, "%s", mistake.Message).WithHint("%s", mistake.Hint)
	}
	return err
}

// Check checks the constraints of an agent at a checkpoint, and returns the failed constraints.
// Check stores nothing. Check does not perform the actions of ON_FAIL. The caller must perform
// them.
func (s *Set) Check(ctx context.Context, env Env, r Rules) (*report.RuleOutcome, error) {
	e, err := s.evaluate(ctx, env, r)
	if err != nil {
		return nil, err
	}
	if err := s.checkCheckpoint(r); err != nil {
		return nil, err
	}
	i, err := e.rules.check(ctx, r.Checkpoint, r.Tool, e.add)
	e.evaluation.Blocked = i >= 0
	return e.result(err)
}

// Store evaluates the triggers of an agent, as the end of a turn does. Store returns the facts that
// the triggers stored.
func (s *Set) Store(ctx context.Context, env Env, r Rules) (*report.RuleOutcome, error) {
	e, err := s.evaluate(ctx, env, r)
	if err != nil {
		return nil, err
	}
	err = e.rules.store(ctx)
	if err == nil && len(e.rules.stored) > 0 {
		saved := *e.loaded
		saved.Stored = e.rules.mem.state.Stored
		err = env.SetState(ctx, e.rules.mem.agent.name, &saved)
	}
	return e.result(err)
}

// evaluator evaluates rules without a turn.
type evaluator struct {
	rules      *rules
	evaluation *report.RuleOutcome
	// loaded is the state of the agent before the evaluation.
	loaded *State
}

// evaluate loads the data of an agent and returns an evaluator for the agent's rules.
func (s *Set) evaluate(ctx context.Context, env Env, r Rules) (*evaluator, error) {
	session, err := env.Session(ctx)
	if err != nil {
		return nil, err
	}
	name, err := s.resolve(r.Agent, session.Active)
	if err != nil {
		return nil, err
	}
	if len(r.Message) > MaxMessageBytes {
		return nil, errMessageSize(r.Message)
	}
	l := &log{outcome: newOutcome()}
	m := newMemory(ctx, s, env, session, l)
	if r.Variables != nil {
		m.session.Injected = nil
	}
	if err := m.join(ctx, name); err != nil {
		return nil, err
	}
	loaded := *m.state
	if m.isNew {
		loaded.Variables = nil
		m.initialize()
	}
	if r.Variables != nil {
		if err := use(m, r.Variables); err != nil {
			return nil, err
		}
	}
	if r.HasMessage {
		m.input = r.Message
	}
	e := report.NewRuleOutcome(name)
	return &evaluator{&rules{mem: m, log: l, excused: -1}, e, &loaded}, nil
}

// use replaces the variables of the session with the variables that the caller passes. If the name
// of a variable contains a dot, the name is the path of an injected value.
func use(m *memory, variables map[string]any) error {
	variables, err := asJSON(variables)
	if err != nil {
		return err
	}
	m.state.Variables, m.kept = map[string]any{}, map[string]any{}
	for name, value := range variables {
		switch {
		case name == "input":
			m.input = value
		case name == "call_result":
			m.result = value
		case name == "call_error":
			m.failure = value
		case strings.Contains(name, "."):
			if m.session.Injected == nil {
				m.session.Injected = map[string]any{}
			}
			m.session.Injected[name] = value
		default:
			m.state.Variables[name] = value
		}
	}
	hideVariables(m)
	return nil
}

// asJSON converts the values of variables to the types of package abl. A Go program can pass values
// of other types, such as int.
func asJSON(variables map[string]any) (map[string]any, error) {
	tooLarge := abi.Faultf(abi.TooLarge, "the variables are larger than %d bytes, or nested deeper than %d levels", MaxValueBytes, MaxValueDepth)
	if size, deep := sizeOf(variables, MaxValueBytes, 0); deep || size > MaxValueBytes {
		return nil, tooLarge
	}
	content, err := json.Marshal(variables)
	if err != nil {
		return nil, abi.Faultf(abi.InvalidArgument, "the variables are not JSON values: %v", err)
	}
	var values map[string]any
	if err := json.Unmarshal(content, &values); err != nil {
		return nil, abi.Faultf(abi.InvalidArgument, "the variables are not JSON values: %v", err)
	}
	if size, deep := sizeOf(values, MaxValueBytes, 0); deep || size > MaxValueBytes {
		return nil, tooLarge
	}
	return values, nil
}

// checkCheckpoint returns a fault if a checkpoint does not exist, or if its tool is unknown. An
// unknown tool is a fault because no constraint can apply to a tool that does not exist.
func (s *Set) checkCheckpoint(r Rules) error {
	switch r.Checkpoint {
	case CheckpointStep, CheckpointReturning:
		if r.Tool != "" {
			return abi.Faultf(abi.InvalidArgument, "the checkpoint %s does not accept a tool", r.Checkpoint).WithHint("omit the tool, or use the checkpoint %s", CheckpointCalling)
		}
		return nil
	case CheckpointCalling:
	default:
		return abi.Faultf(abi.InvalidArgument, "unknown checkpoint %q", r.Checkpoint).
			WithHint("use %s, %s or %s", CheckpointStep, CheckpointCalling, CheckpointReturning)
	}
	if _, ok := s.tools[r.Tool]; ok {
		return nil
	}
	if r.Tool == "" {
		return abi.Faultf(abi.InvalidArgument, "the checkpoint %s requires a tool", r.Checkpoint)
	}
	fault := abi.Faultf(abi.NotFound, "unknown tool %q", r.Tool)
	if best := spell.Name(r.Tool, slices.Sorted(maps.Keys(s.tools))); best != "" {
		return fault.WithHint("did you mean %s?", best)
	}
	return fault
}

// add records a constraint that failed.
func (e *evaluator) add(c *abl.Constraint, message string) {
	f := report.Failure{
		Position: e.rules.log.place(c.Position), Rule: string(c.Rule), Severity: string(c.Severity), Message: message,
		Handoff: c.OnFail.Handoff.Value, Escalate: c.OnFail.Escalate, Goto: c.OnFail.Goto.Value, Retry: c.OnFail.Retry, Then: c.OnFail.Then,
	}
	for _, field := range c.OnFail.Collect {
		f.Collect = append(f.Collect, field.Value)
	}
	e.evaluation.Failures = append(e.evaluation.Failures, f)
}

// result completes and returns the evaluation. If the argument "err" is not nil, result returns a
// copy of this error without sensitive values.
func (e *evaluator) result(err error) (*report.RuleOutcome, error) {
	l := e.rules.log
	if err != nil {
		return nil, l.secrets.sorted().cleanFault(err)
	}
	l.clean()
	o := l.outcome
	e.evaluation.Injected, e.evaluation.Instructions = o.Injected, o.Instructions
	e.evaluation.Warnings, e.evaluation.Trace = o.Warnings, o.Trace
	maps.Copy(e.evaluation.Stored, e.rules.stored)
	return e.evaluation, nil
}
