package client_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/sdk/client"
)

func approvals(t *testing.T, c *client.Client) {
	ctx, h := t.Context(), c.Approvals()
	pause := func() *report.PendingApproval {
		t.Helper()
		result := must(c.Run(ctx, run("gated", `{}`)))(t)
		if result.Status != report.Paused || result.Approval == nil {
			t.Fatalf("Run = %+v; want a paused run", result)
		}
		return result.Approval
	}
	first := pause()
	time.Sleep(2 * time.Millisecond) // requests of the same millisecond have no order
	second := pause()
	if a := must(h.Get(ctx, first.Token))(t); a.Tool != "gated" || a.User != "ann" || a.State != "pending" {
		t.Errorf("Get = %+v", a)
	}
	var tokens []string
	for a, err := range h.Pages(ctx, client.ApprovalQuery{User: "ann"}) {
		if err != nil {
			t.Fatal(err)
		}
		tokens = append(tokens, a.Token)
	}
	if len(tokens) != 2 || tokens[0] != first.Token || tokens[1] != second.Token {
		t.Errorf("Pages = %q; want %q and %q", tokens, first.Token, second.Token)
	}
	if result := must(h.Approve(ctx, first.Token))(t); result.Status != report.Completed || string(result.Output) != `"stored"` {
		t.Errorf("Approve = %+v", result)
	}
	if _, err := h.Approve(ctx, first.Token); !errors.Is(err, abi.Conflict) {
		t.Errorf("a second Approve = %v; want conflict", err)
	}
	denied := must(h.Deny(ctx, second.Token, "not today"))(t)
	if denied.Error == nil || denied.Error.Code != abi.AccessDenied {
		t.Errorf("Deny = %+v; want access_denied", denied)
	}
	list := must(h.List(ctx, client.ApprovalQuery{All: true}))(t)
	if len(list.Items) != 2 || list.Items[0].State != "approved" || list.Items[1].Reason != "not today" {
		t.Errorf("List = %+v", list)
	}
	if flags := must(c.Records().Get(ctx, client.Caller{}, "flags", nil))(t); !json.Valid(flags.Content) {
		t.Errorf("the stored flags are %s", flags.Content)
	}
}
