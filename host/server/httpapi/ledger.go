package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/toolrun/toolrun/host/ledger"
	"github.com/toolrun/toolrun/host/server/auth"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

type ledgerInput struct {
	apitypes.Target
	apitypes.PageQuery
	User     string    `query:"user_id" maxLength:"256" doc:"Entries for this user"`
	Session  string    `query:"session_id" maxLength:"256" doc:"Entries in this session"`
	Workflow string    `query:"workflow_id" maxLength:"256" doc:"Entries in this workflow"`
	Tool     string    `query:"tool" maxLength:"128" doc:"Runs of this tool"`
	Store    string    `query:"store" maxLength:"64" doc:"Entries that read or wrote this store"`
	Writes   bool      `query:"writes" doc:"Whether the response contains only entries with writes"`
	Failed   bool      `query:"failed" doc:"Whether the response contains only entries that ended with a fault"`
	Since    time.Time `query:"since" doc:"Time of the earliest entries"`
	Until    time.Time `query:"until" doc:"Time before which the entries were written"`
}

func addLedger(s *Server) {
	add(s, auth.Ledger, huma.Operation{
		OperationID: "read-ledger", Method: http.MethodGet, Path: "/ledger", Tags: []string{"ledger"}, Summary: "Read the audit log",
		Description: "Returns runs and operator actions, oldest first. Entries contain names and revisions, but no contents. A page may be shorter than the limit. More pages follow if `next` is set.",
	}, readLedger)
	addPlain(s, "", huma.Operation{
		OperationID: "whoami", Method: http.MethodGet, Path: "/whoami", Tags: []string{"service"}, Summary: "Describe the credentials",
	}, func(ctx context.Context, _ *struct{}) (*whoamiOutput, error) {
		p, _ := ctx.Value(principalKey{}).(auth.Principal)
		return &whoamiOutput{apitypes.Whoami{
			Name: p.Name, Role: string(p.Role), Tenant: p.Tenant, Apps: s.access.appsOf(p), User: p.User, Session: p.Session, Workflow: p.Workflow,
		}}, nil
	})
}

type whoamiOutput struct{ Body apitypes.Whoami }

func readLedger(ctx context.Context, c *call, in *ledgerInput) (*listOutput[apitypes.LedgerEntry], error) {
	caller, err := c.named("", "")
	if err != nil {
		return nil, err
	}
	found, next, more, err := c.host.Ledger().Entries(ctx, caller, ledger.Query{
		After: in.After, Since: in.Since, Until: in.Until, User: in.User, Session: in.Session, Workflow: in.Workflow, Tool: in.Tool, Store: in.Store,
		Writes: in.Writes, Failed: in.Failed, Limit: in.Limit,
	})
	page := apitypes.List[apitypes.LedgerEntry]{Items: make([]apitypes.LedgerEntry, len(found))}
	for i, e := range found {
		page.Items[i] = apitypes.LedgerEntry(e)
	}
	if more {
		page.Next = next
	}
	return &listOutput[apitypes.LedgerEntry]{page}, err
}
