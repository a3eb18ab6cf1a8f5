package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/approval"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/server/auth"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

type listApprovalsInput struct {
	apitypes.Target
	User  string `query:"user_id" maxLength:"256" doc:"User whose runs wait for the approvals"`
	All   bool   `query:"all" doc:"Include approvals that were decided or have expired in the last day"`
	After string `query:"after" maxLength:"256" doc:"Value of next on the previous page"`
}

type approvalInput struct {
	apitypes.Target
	apitypes.ApprovalPath
}

type decisionInput struct {
	apitypes.Target
	apitypes.ApprovalPath
	Body apitypes.Decision
}

type approvalOutput struct{ Body apitypes.Approval }

func addApprovals(s *Server) {
	tags := []string{"approvals"}
	const path = "/approvals/{token}"
	add(s, auth.Approve, huma.Operation{
		OperationID: "list-approvals", Method: http.MethodGet, Path: "/approvals", Tags: tags, Summary: "List the effects that wait for an approval",
		Description: "Returns approvals, oldest first. More pages follow if `next` is set, even after an empty page.",
	}, listApprovals)
	add(s, auth.Approve, huma.Operation{
		OperationID: "get-approval", Method: http.MethodGet, Path: path, Tags: tags, Summary: "Describe an effect that waits for an approval",
	}, getApproval)
	add(s, auth.Approve, huma.Operation{
		OperationID: "decide-approval", Method: http.MethodPost, Path: path, Tags: tags, Summary: "Approve or deny an effect",
		Description: "The response is the Result of the run. An approved run is executed again: it completes, fails, or is paused before its next effect, with " +
			"a new token. A denied run fails with the code `access_denied`. An approval can be decided only once. If the run fails for a temporary reason " +
			"or the client disconnects, the effect can be approved again.",
	}, decideApproval)
}

func listApprovals(ctx context.Context, c *call, in *listApprovalsInput) (*listOutput[apitypes.Approval], error) {
	caller, err := c.named(in.User, "")
	if err != nil {
		return nil, err
	}
	found, next, err := c.host.Approvals().List(ctx, caller, in.All, in.After)
	if err != nil {
		return nil, err
	}
	page := apitypes.List[apitypes.Approval]{Items: make([]apitypes.Approval, len(found)), Next: next}
	for i, a := range found {
		page.Items[i] = approvalOf(a)
	}
	return &listOutput[apitypes.Approval]{page}, nil
}

func getApproval(ctx context.Context, c *call, in *approvalInput) (*approvalOutput, error) {
	caller, err := c.named("", "")
	if err != nil {
		return nil, err
	}
	found, err := c.host.Approvals().Get(ctx, caller, in.Token)
	if err != nil {
		return nil, err
	}
	return &approvalOutput{approvalOf(found)}, nil
}

func decideApproval(ctx context.Context, c *call, in *decisionInput) (*resultOutput, error) {
	caller, err := c.named("", "")
	if err != nil {
		return nil, err
	}
	var result *report.Result
	if in.Body.Decision == apitypes.Deny {
		result, err = c.host.Approvals().Deny(ctx, caller, in.Token, in.Body.Reason)
	} else if in.Body.Reason != "" {
		return nil, abi.Faultf(abi.InvalidArgument, "only a denial can have a reason").WithHint("omit reason")
	} else {
		result, err = c.host.Approvals().Approve(ctx, caller, in.Token)
	}
	if result == nil {
		return nil, err
	}
	return resultOf(result, err)
}

// resultOf returns a Result as a response. If the tool did not run, resultOf returns a problem.
func resultOf(result *report.Result, err error) (*resultOutput, error) {
	f := abi.FaultOf(err)
	if f == nil || result.Attempts > 0 && f.Code != abi.Unavailable && f.Code != abi.Internal {
		return &resultOutput{result.RunID, *result}, nil
	}
	p := *problemOf(err)
	p.RunID = result.RunID
	return nil, &p
}

// approvalOf converts an approval to the type that responses contain.
func approvalOf(a approval.Approval) apitypes.Approval {
	return apitypes.Approval{
		Token: a.Token, RunID: a.Run, Tool: a.Tool, User: a.User, Session: a.Session, Workflow: a.Workflow, Binding: apitypes.ApprovalBinding(a.Binding),
		Effect: a.Effect, ByUser: a.ByUser, Requested: a.Requested, Expires: a.Expires, State: string(a.State), By: a.By, Decided: a.Decided, Reason: a.Reason,
	}
}
