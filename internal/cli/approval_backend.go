package cli

import (
	"context"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/approval"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
	"github.com/toolrun/toolrun/sdk/client"
)

// approvalBackend lists and decides the effects that wait for an approval.
type approvalBackend interface {
	// List returns a page of approvals. The result "next" is "" on the last page.
	List(ctx context.Context, c host.Caller, all bool, after string) (found []approval.Approval, next string, err error)
	Get(ctx context.Context, c host.Caller, token string) (approval.Approval, error)
	Approve(ctx context.Context, c host.Caller, token string) (*report.Result, error)
	Deny(ctx context.Context, c host.Caller, token, reason string) (*report.Result, error)
}

var _, _ approvalBackend = host.Approvals{}, remoteApprovals{}

// remoteApprovals decides the effects of an app at a server.
type remoteApprovals struct{ client *client.Client }

// List returns a page of approvals.
func (r remoteApprovals) List(ctx context.Context, c host.Caller, all bool, after string) (found []approval.Approval, next string, err error) {
	page, err := r.client.Approvals().List(ctx, client.ApprovalQuery{User: c.User, All: all, After: after})
	if err != nil {
		return nil, "", err
	}
	for i := range page.Items {
		found = append(found, localApproval(&page.Items[i]))
	}
	return found, page.Next, nil
}

// Get describes an approval.
func (r remoteApprovals) Get(ctx context.Context, _ host.Caller, token string) (approval.Approval, error) {
	found, err := r.client.Approvals().Get(ctx, token)
	if err != nil {
		return approval.Approval{}, err
	}
	return localApproval(found), nil
}

// Approve approves an effect.
func (r remoteApprovals) Approve(ctx context.Context, _ host.Caller, token string) (*report.Result, error) {
	return r.client.Approvals().Approve(ctx, token)
}

// Deny denies an effect.
func (r remoteApprovals) Deny(ctx context.Context, _ host.Caller, token, reason string) (*report.Result, error) {
	return r.client.Approvals().Deny(ctx, token, reason)
}

// localApproval converts an approval in a response to a value of package approval.
func localApproval(a *apitypes.Approval) approval.Approval {
	return approval.Approval{
		Token: a.Token, Run: a.RunID, Tool: a.Tool, User: a.User, Session: a.Session, Workflow: a.Workflow, Binding: approval.Binding(a.Binding),
		Effect: a.Effect, ByUser: a.ByUser, Requested: a.Requested, Expires: a.Expires, State: approval.State(a.State), By: a.By, Decided: a.Decided, Reason: a.Reason,
	}
}
