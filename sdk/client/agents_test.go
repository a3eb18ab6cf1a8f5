package client_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
	"github.com/toolrun/toolrun/sdk/client"
)

func agents(t *testing.T, c *client.Client) {
	ctx := t.Context()
	noAgent(t, c)
	if list := must(c.Agents().List(ctx))(t); len(list) != 1 || list[0].Name != "Greeter" || strings.Join(list[0].Tools, "") != "fail" {
		t.Errorf("List = %+v; want Greeter", list)
	}
	fields := apitypes.TurnFields{User: "cy", Session: "cy1"}
	first := must(c.Agents().Turn(ctx, "Greeter", apitypes.TurnRequest{TurnFields: fields}))(t)
	if p := must(c.Agents().Preview(ctx, "Greeter", apitypes.TurnRequest{TurnFields: fields}))(t); !p.OK || p.Agent != "Greeter" || p.Prompt != nil {
		t.Errorf("Preview = %+v; want no prompt", p)
	}
	if strings.Join(first.Messages, "") != "Who are you?" || first.Session != "cy1" {
		t.Errorf("Turn = %+v; want the question", first)
	}
	message := "fail"
	failing := apitypes.TurnRequest{Message: &message, TurnFields: fields}
	failed, err := c.Agents().Turn(ctx, "Greeter", failing)
	var e *client.Error
	if failed == nil || failed.OK || !errors.Is(err, abi.ToolError) || !errors.As(err, &e) || e.RunID != failed.TurnID {
		t.Errorf("a failed turn = %+v, %v; want its result and its fault", failed, err)
	}
	name := "Cy"
	named := apitypes.TurnRequest{Message: &name, TurnFields: fields}
	done := must(c.Agents().Turn(ctx, "Greeter", named, client.IdempotencyKey("cy")))(t)
	again := must(c.Agents().Turn(ctx, "Greeter", named, client.IdempotencyKey("cy")))(t)
	if strings.Join(done.Messages, "") != "Hello, Cy!" || !again.Repeated || again.TurnID != done.TurnID {
		t.Errorf("a repeated turn = %+v; want the result of %s", again, done.TurnID)
	}
	agentRules(t, c)
}

func agentRules(t *testing.T, c *client.Client) {
	ctx, in := t.Context(), apitypes.TurnFields{User: "dan", Session: "dan1"}
	with := apitypes.RuleFields{Variables: map[string]any{"name": "Dan"}, TurnFields: in}
	if e := must(c.Agents().Store(ctx, "Greeter", apitypes.TriggerRequest{RuleFields: with}))(t); e.Stored["user.nickname"] != "Dan" {
		t.Errorf("Store = %+v; want the stored fact user.nickname", e)
	}
	event := apitypes.EventRequest{Event: "session:start", RuleFields: apitypes.RuleFields{TurnFields: in}}
	if e := must(c.Agents().Fire(ctx, "Greeter", event))(t); e.Injected["user.nickname"] != "Dan" {
		t.Errorf("Fire = %+v; want the recalled fact user.nickname", e)
	}
	if e := must(c.Agents().Check(ctx, "Greeter", apitypes.CheckRequest{Before: "calling fail", RuleFields: with}))(t); !e.Blocked {
		t.Errorf("Check = %+v; want a constraint that blocks the call", e)
	}
}

// noAgent sends each request to an agent that does not exist.
func noAgent(t *testing.T, c *client.Client) {
	ctx := t.Context()
	failed := map[string]error{}
	_, failed["Turn"] = c.Agents().Turn(ctx, "Missing", apitypes.TurnRequest{})
	_, failed["Preview"] = c.Agents().Preview(ctx, "Missing", apitypes.TurnRequest{})
	_, failed["Fire"] = c.Agents().Fire(ctx, "Missing", apitypes.EventRequest{Event: "session:start"})
	_, failed["Check"] = c.Agents().Check(ctx, "Missing", apitypes.CheckRequest{})
	_, failed["Store"] = c.Agents().Store(ctx, "Missing", apitypes.TriggerRequest{})
	for call, err := range failed {
		var e *client.Error
		if !errors.Is(err, abi.NotFound) || !errors.As(err, &e) || e.Status != 404 {
			t.Errorf("%s of an unknown agent = %v; want not_found", call, err)
		}
	}
}
