package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
	"github.com/toolrun/toolrun/sdk/client"
)

// agentBackend lists agents, performs turns of agents and applies the rules of agents. If a method
// of agentBackend returns an error, the returned pointer can be nil.
type agentBackend interface {
	List(context.Context) ([]apitypes.Agent, error)
	Turn(context.Context, host.Turn) (*report.Turn, error)
	Preview(context.Context, host.Turn) (*report.Preview, error)
	Fire(context.Context, host.Turn) (*report.Evaluation, error)
	// Check checks the constraints at the checkpoint in the argument "before". If "before" is "",
	// Check checks the constraints of each step.
	Check(ctx context.Context, t host.Turn, before string) (*report.Evaluation, error)
	Store(context.Context, host.Turn) (*report.Evaluation, error)
}

var (
	_ agentBackend = localAgents{}
	_ agentBackend = remoteAgents{}
)

// localAgents contains the agents of an app that is open in this process.
type localAgents struct{ host.Agents }

// List returns the agents, sorted by name.
func (l localAgents) List(context.Context) ([]apitypes.Agent, error) {
	list := []apitypes.Agent{}
	for _, a := range l.Agents.List() {
		list = append(list, apitypes.Agent{Name: a.Name, Goal: a.Goal, Tools: a.Tools, Facts: a.Facts, Events: a.Events})
	}
	return list, nil
}

// remoteAgents contains the agents of an app at a server.
type remoteAgents struct {
	client *client.Client
	env    Env
}

// List returns the agents, sorted by name.
func (r remoteAgents) List(ctx context.Context) ([]apitypes.Agent, error) {
	return r.client.Agents().List(ctx)
}

// Turn performs a turn at the server. The log lines are printed when the turn has ended.
func (r remoteAgents) Turn(ctx context.Context, t host.Turn) (*report.Turn, error) {
	request := apitypes.TurnRequest{Message: t.Message, Event: t.Event, Policy: sentPolicy(t.MemoryPolicy), TurnFields: turnFieldsOf(t)}
	result, err := r.client.Agents().Turn(ctx, t.Agent, request, client.IdempotencyKey(t.Key))
	if result != nil && t.OnLog != nil && !result.Repeated {
		for _, line := range result.Logs {
			t.OnLog(result.Attempts, line)
		}
	}
	return result, r.unknown(ctx, err, t.Agent)
}

// Preview returns the first model request that a turn at the server would make.
func (r remoteAgents) Preview(ctx context.Context, t host.Turn) (*report.Preview, error) {
	t.DryRun = false // implied
	request := apitypes.TurnRequest{Message: t.Message, Event: t.Event, Policy: sentPolicy(t.MemoryPolicy), TurnFields: turnFieldsOf(t)}
	result, err := r.client.Agents().Preview(ctx, t.Agent, request)
	return result, r.unknown(ctx, err, t.Agent)
}

// Fire fires an event at the server.
func (r remoteAgents) Fire(ctx context.Context, t host.Turn) (*report.Evaluation, error) {
	request := apitypes.EventRequest{Event: t.Event, RuleFields: ruleFieldsOf(t)}
	result, err := r.client.Agents().Fire(ctx, t.Agent, request, client.IdempotencyKey(t.Key))
	return result, r.unknown(ctx, err, t.Agent)
}

// Check checks constraints at the server.
func (r remoteAgents) Check(ctx context.Context, t host.Turn, before string) (*report.Evaluation, error) {
	result, err := r.client.Agents().Check(ctx, t.Agent, apitypes.CheckRequest{Before: before, RuleFields: ruleFieldsOf(t)})
	return result, r.unknown(ctx, err, t.Agent)
}

// Store evaluates triggers at the server.
func (r remoteAgents) Store(ctx context.Context, t host.Turn) (*report.Evaluation, error) {
	request := apitypes.TriggerRequest{RuleFields: ruleFieldsOf(t)}
	result, err := r.client.Agents().Store(ctx, t.Agent, request, client.IdempotencyKey(t.Key))
	return result, r.unknown(ctx, err, t.Agent)
}

// unknown adds the names of the app's agents to the error for an unknown agent.
func (r remoteAgents) unknown(ctx context.Context, err error, agent string) error {
	if e, ok := errors.AsType[*client.Error](err); !ok || e.Status != 404 {
		return err
	}
	return unknownName(err, agent, fmt.Sprintf("the server has no agent %q", agent), "the app declares no agents", func() ([]string, error) {
		return namesOf(r.List, func(a apitypes.Agent) string { return a.Name })(ctx)
	})
}

func turnFieldsOf(t host.Turn) apitypes.TurnFields {
	return apitypes.TurnFields{
		Session: t.Caller.Session, User: t.Caller.User, Workflow: t.Caller.Workflow, Metadata: t.Metadata, TimeoutMS: t.Timeout.Milliseconds(), DryRun: t.DryRun,
		TestFields: testFieldsOf(t.Test, t.Live, t.Mocks, t.Recalls),
	}
}

func ruleFieldsOf(t host.Turn) apitypes.RuleFields {
	return apitypes.RuleFields{Message: t.Message, Variables: t.Variables, TurnFields: turnFieldsOf(t)}
}
