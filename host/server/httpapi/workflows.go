package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/server/auth"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
	"github.com/toolrun/toolrun/host/session"
)

type workflowOutput struct{ Body session.Workflow }

type workflowInput struct {
	apitypes.Target
	apitypes.WorkflowPath
	apitypes.UserQuery
}

func addWorkflows(s *Server) {
	tags := []string{"workflows"}
	add(s, auth.ReadSessions, huma.Operation{
		OperationID: "list-workflows", Method: http.MethodGet, Path: "/workflows", Tags: tags, Summary: "List workflows",
		Description: "Returns workflows, sorted by id. A workflow starts with the first run or write that uses its id. A page may be shorter than the limit. More pages follow if `next` is set.",
	}, listWorkflows)
	add(s, auth.ReadSessions, huma.Operation{
		OperationID: "get-workflow", Method: http.MethodGet, Path: "/workflows/{workflow_id}", Tags: tags, Summary: "Describe a workflow",
	}, func(ctx context.Context, c *call, in *workflowInput) (*workflowOutput, error) {
		caller, err := c.callerIn(ctx, in.User, "", in.Workflow)
		if err != nil {
			return nil, err
		}
		found, err := c.host.Workflows().Get(ctx, caller)
		return &workflowOutput{found}, err
	})
	add(s, auth.Sessions, huma.Operation{
		OperationID: "end-workflow", Method: http.MethodPost, Path: "/workflows/{workflow_id}/end", Tags: tags, Summary: "End a workflow",
		Description: "Removes the facts of the workflow. Later requests with the id of the workflow are rejected. Ending a workflow twice is not an error.",
	}, func(ctx context.Context, c *call, in *workflowInput) (*workflowOutput, error) {
		caller, err := c.callerIn(ctx, in.User, "", in.Workflow)
		if err != nil {
			return nil, err
		}
		ended, err := c.host.Workflows().End(ctx, caller)
		return &workflowOutput{ended}, err
	})
}

type listWorkflowsInput struct {
	apitypes.Target
	apitypes.UserQuery
	apitypes.PageQuery
}

func listWorkflows(ctx context.Context, c *call, in *listWorkflowsInput) (*listOutput[session.Workflow], error) {
	caller, err := c.named(in.User, "")
	if err != nil {
		return nil, err
	}
	if c.principal.Role == auth.User && caller.Workflow == "" {
		return nil, abi.Faultf(abi.AccessDenied, "the credentials do not contain a workflow id")
	}
	if caller.Workflow != "" { // the only workflow that the caller may see
		own, err := c.host.Workflows().Get(ctx, caller)
		return &listOutput[session.Workflow]{apitypes.List[session.Workflow]{Items: []session.Workflow{own}}}, err
	}
	found, next, err := c.host.Workflows().List(ctx, caller, in.After, in.Limit)
	return &listOutput[session.Workflow]{apitypes.List[session.Workflow]{Items: found, Next: next}}, err
}
