package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/server/auth"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

type turnInput struct {
	apitypes.Target
	apitypes.RunHeaders
	apitypes.AgentPath
	Body apitypes.TurnRequest
}

type eventInput struct {
	apitypes.Target
	apitypes.RunHeaders
	apitypes.AgentPath
	Body apitypes.EventRequest
}

type checkInput struct {
	apitypes.Target
	apitypes.AgentPath
	Body apitypes.CheckRequest
}

type triggerInput struct {
	apitypes.Target
	apitypes.RunHeaders
	apitypes.AgentPath
	Body apitypes.TriggerRequest
}

type previewInput struct {
	apitypes.Target
	apitypes.AgentPath
	Body apitypes.TurnRequest
}

type previewOutput struct{ Body report.Preview }

type turnOutput struct {
	RunID string `header:"Run-Id" doc:"Id of the turn. If an idempotency key repeats a response, the id is the id of the first turn"`
	Body  report.Turn
}

type evaluationOutput struct {
	RunID string `header:"Run-Id" doc:"Id of the evaluation. If an idempotency key repeats a response, the id is the id of the first evaluation"`
	Body  report.Evaluation
}

func addAgents(s *Server) {
	op := func(id, path, summary, description string) huma.Operation {
		return huma.Operation{
			OperationID: id, Method: http.MethodPost, Path: "/agents/{agent}/" + path, Tags: []string{"agents"}, MaxBodyBytes: maxRunBytes,
			Summary: summary, Description: description,
		}
	}
	add(s, auth.Run, huma.Operation{
		OperationID: "list-agents", Method: http.MethodGet, Path: "/agents", Tags: []string{"agents"}, Summary: "List the agents",
	}, listAgents)
	add(s, auth.Run, op("turn", "turns", "Talk to an agent",
		"Performs one turn of a conversation as one transaction. The response is the result, even if the turn failed: see `ok` and `error`. "+
			"If no turn was performed, the response is a problem. If the client disconnects, the turn is canceled and stores nothing.",
	), func(ctx context.Context, c *call, in *turnInput) (*turnOutput, error) {
		t := host.Turn{Agent: in.Agent, Message: in.Body.Message, Event: in.Body.Event, Key: in.Key, MemoryPolicy: policyOf(in.Body.Policy)}
		t, err := c.prepareTurn(ctx, t, in.Body.TurnFields)
		if err != nil {
			return nil, err
		}
		r, err := c.host.Agents().Turn(ctx, t)
		return &turnOutput{r.TurnID, *r}, turnProblem(err, r.TurnID, r.Attempts)
	})
	add(s, auth.Records, op("preview-turn", "preview", "Preview the prompt of a turn",
		"Returns, in `prompt`, the first request that a turn would send to a model. The request is not sent, and nothing is stored.",
	), func(ctx context.Context, c *call, in *previewInput) (*previewOutput, error) {
		f := in.Body.TurnFields
		if f.Live {
			return nil, abi.Faultf(abi.InvalidArgument, "a preview sends no request to a model").WithHint("omit live")
		}
		f.DryRun = true
		t := host.Turn{Agent: in.Agent, Message: in.Body.Message, Event: in.Body.Event, MemoryPolicy: policyOf(in.Body.Policy)}
		t, err := c.prepareTurn(ctx, t, f)
		if err != nil {
			return nil, err
		}
		r, err := c.host.Agents().Preview(ctx, t)
		return &previewOutput{*r}, turnProblem(err, r.TurnID, r.Attempts)
	})
	add(s, auth.Run, op("fire-event", "events", "Fire an event",
		"Returns the facts and instructions that the agent recalls at an event, in `injected` and `instructions`. No flow is executed. This operation is for platforms that have their own loop.",
	), func(ctx context.Context, c *call, in *eventInput) (*evaluationOutput, error) {
		t := host.Turn{Agent: in.Agent, Event: in.Body.Event, Key: in.Key}
		return c.evaluate(ctx, t, in.Body.RuleFields, c.host.Agents().Fire)
	})
	add(s, auth.Run, op("check-constraints", "checks", "Check the constraints of an agent",
		"`blocked` reports whether a constraint failed at a checkpoint, and `failures` lists the constraints that failed. For platforms that have their own loop.",
	), func(ctx context.Context, c *call, in *checkInput) (*evaluationOutput, error) {
		return c.evaluate(ctx, host.Turn{Agent: in.Agent}, in.Body.RuleFields, func(ctx context.Context, t host.Turn) (*report.Evaluation, error) {
			return c.host.Agents().Check(ctx, t, in.Body.Before)
		})
	})
	add(s, auth.Run, op("evaluate-triggers", "triggers", "Evaluate the triggers of an agent",
		"Stores the values of triggers whose condition is true. A turn does the same at its end. This operation is for platforms that have their own loop.",
	), func(ctx context.Context, c *call, in *triggerInput) (*evaluationOutput, error) {
		return c.evaluate(ctx, host.Turn{Agent: in.Agent, Key: in.Key}, in.Body.RuleFields, c.host.Agents().Store)
	})
}

// evaluate evaluates the rules of an agent. A rule can use the variables that a platform sets in
// its request. Users cannot set variables, because triggers could store the variables.
func (c *call) evaluate(ctx context.Context, t host.Turn, f apitypes.RuleFields, do func(context.Context, host.Turn) (*report.Evaluation, error)) (*evaluationOutput, error) {
	if f.Variables != nil && c.principal.Role == auth.User {
		return nil, platformOnly("variables")
	}
	t.Variables, t.Message = f.Variables, f.Message
	t, err := c.prepareTurn(ctx, t, f.TurnFields)
	if err != nil {
		return nil, err
	}
	r, err := do(ctx, t)
	return &evaluationOutput{r.TurnID, *r}, turnProblem(err, r.TurnID, r.Attempts)
}

// prepareTurn sets the caller of a turn, and copies the remaining fields of the request to the
// turn.
func (c *call) prepareTurn(ctx context.Context, t host.Turn, f apitypes.TurnFields) (host.Turn, error) {
	err := c.checkRunFields(apitypes.RunFields{Metadata: f.Metadata, SessionReference: f.SessionReference, UserReference: f.UserReference})
	if err != nil {
		return t, err
	}
	if err := checkPlainText(f.Metadata, f.SessionReference, f.UserReference); err != nil {
		return t, err
	}
	if t.Mocks, t.Recalls, err = c.checkTest(f.DryRun, f.TestFields); err != nil {
		return t, err
	}
	t.Metadata, t.SessionReference, t.UserReference = f.Metadata, f.SessionReference, f.UserReference
	t.Timeout, t.DryRun, t.Test, t.Live = milliseconds(f.TimeoutMS), f.DryRun, f.Test, f.Live
	t.Caller, err = c.callerIn(ctx, f.User, f.Session, f.Workflow)
	return t, err
}

// turnProblem returns the problem for the error of a turn, or nil if the response is the result of
// the turn.
func turnProblem(err error, id string, attempts int) error {
	if err == nil {
		return nil
	}
	if f := abi.FaultOf(err); attempts > 0 && f.Code != abi.Unavailable && f.Code != abi.Internal {
		return nil
	}
	p := *problemOf(err)
	p.RunID = id
	return &p
}

func listAgents(_ context.Context, c *call, _ *apitypes.Target) (*listOutput[apitypes.Agent], error) {
	list := []apitypes.Agent{}
	for _, a := range c.host.Agents().List() {
		list = append(list, apitypes.Agent{
			Name: a.Name, Goal: a.Goal, Tools: orEmpty(a.Tools), Facts: orEmpty(a.Facts), Events: orEmpty(a.Events),
		})
	}
	return &listOutput[apitypes.Agent]{apitypes.List[apitypes.Agent]{Items: list}}, nil
}

// orEmpty replaces nil by an empty list, because JSON would encode nil as null.
func orEmpty(list []string) []string { return append([]string{}, list...) }
