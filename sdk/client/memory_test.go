package client_test

import (
	"errors"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
	"github.com/toolrun/toolrun/sdk/client"
)

func blocks(t *testing.T, c *client.Client) {
	ctx, gus := t.Context(), client.Caller{User: "gus"}
	if _, err := c.Memory().Get(ctx, gus, "core"); !errors.Is(err, abi.NotFound) {
		t.Errorf("Get of a missing block = %v; want not_found", err)
	}
	if declared := must(c.Memory().Declared(ctx))(t); len(declared) != 2 || declared[0].Name != "core" || *declared[0].Entries != 20 || declared[1].Entries != nil {
		t.Errorf("Declared = %+v; want core and archival with their limits", declared)
	}
	core := must(c.Memory().Update(ctx, gus, "core", "- Likes tea", ""))(t)
	if core.Type != "core" || core.Scope != "user" || core.Agent != nil || core.Updated == "" {
		t.Errorf("Update = %+v; want the block core of the user", core)
	}
	if _, err := c.Memory().Update(ctx, gus, "core", "- Likes milk", ""); !errors.Is(err, abi.Conflict) {
		t.Errorf("Update of a block as a new one = %v; want conflict", err)
	}
	next := must(c.Memory().Update(ctx, gus, "core", "- Likes milk", core.Updated))(t)
	if next.Updated <= core.Updated || next.Content != "- Likes milk" {
		t.Errorf("Update = %+v; want the new content after %s", next, core.Updated)
	}
	var failed *client.Error
	if _, err := c.Memory().Update(ctx, gus, "core", "- Likes beer", core.Updated); !errors.As(err, &failed) || failed.Status != 409 {
		t.Errorf("Update with an old time = %v; want status 409", err)
	}
	agent := client.Caller{User: "gus", Agent: "agent_records"}
	must(c.Memory().Update(ctx, agent, "archival", "- Acme renewal: pricing options", ""))(t)
	for scope, want := range map[string]int{"": 1, client.AllScopes: 2} {
		if list := must(c.Memory().List(ctx, gus, scope))(t); len(list) != want {
			t.Errorf("List in the scope %q = %+v; want %d blocks", scope, list, want)
		}
	}
	if list := must(c.Memory().List(ctx, agent, ""))(t); len(list) != 1 || list[0].Scope != "agent" || *list[0].Agent != "agent_records" {
		t.Errorf("List = %+v; want the block of the agent", list)
	}
	if _, err := c.Memory().Delete(ctx, gus, "core", core.Updated); !errors.Is(err, abi.Conflict) {
		t.Errorf("Delete with an old time = %v; want conflict", err)
	}
	if deleted := must(c.Memory().Delete(ctx, gus, "core", next.Updated))(t); !deleted.Deleted {
		t.Errorf("Delete = %+v", deleted)
	}
	if _, err := c.Memory().Delete(ctx, gus, "core", next.Updated); !errors.Is(err, abi.Conflict) {
		t.Errorf("Delete of a missing block = %v; want conflict", err)
	}
	recalled(t, c)
}

func recalled(t *testing.T, c *client.Client) {
	ctx := t.Context()
	lines := must(c.Memory().Recall(ctx, apitypes.RecallRequest{Query: "Acme renewal", User: "gus", Agent: "agent_records"}))(t)
	if len(lines) != 1 || lines[0].Scope != "agent" || lines[0].Line != 1 || lines[0].Score <= 0 {
		t.Errorf("Recall = %+v; want the line of the agent", lines)
	}
	must(c.Memory().Update(ctx, client.Caller{User: "gus"}, "core", "- Likes tea", ""))(t)
	auto := "auto"
	request := apitypes.ContextRequest{Message: "Acme renewal?", User: "gus", Agent: "agent_records", Policy: &apitypes.MemoryPolicy{ArchivalMode: &auto}}
	if found := must(c.Memory().Context(ctx, request))(t); found.UserMemory == "" || len(found.SystemReminders) == 0 {
		t.Errorf("Context = %+v; want the block and a reminder", found)
	}
}
