package client_test

import (
	"errors"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
	"github.com/toolrun/toolrun/sdk/client"
)

func agents(t *testing.T, c *client.Client) {
	ctx := t.Context()
	noAgent(t, c)
	if list := must(c.Agents().List(ctx))(t); len(list) != 0 {
		t.Errorf("List = %+v; want no agent", list)
	}
}

// noAgent sends each request to an agent that does not exist.
func noAgent(t *testing.T, c *client.Client) {
	ctx := t.Context()
	failed := map[string]error{}
	_, failed["Turn"] = c.Agents().Turn(ctx, "Missing", apitypes.TurnRequest{})
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
