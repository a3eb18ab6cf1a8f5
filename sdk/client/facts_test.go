package client_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/sdk/client"
)

func facts(t *testing.T, c *client.Client) {
	ctx, ben, none := t.Context(), client.Caller{User: "ben"}, int64(0)
	const path = "user.language"
	if f := must(c.Facts().Get(ctx, ben, path))(t); string(f.Value) != `"en"` || !f.Default || f.Type != "string" || f.Revision != 0 {
		t.Errorf("Get = %+v; want the default", f)
	}
	set := must(c.Facts().Set(ctx, ben, path, json.RawMessage(`"fr"`), client.WriteOptions{IfRevision: &none, TTL: "1h"}))(t)
	if string(set.Value) != `"fr"` || set.Revision != 1 || set.Expires == nil || set.Default {
		t.Errorf("Set = %+v; want the value with an expiry", set)
	}
	if _, err := c.Facts().Set(ctx, ben, path, json.RawMessage(`"de"`), client.WriteOptions{IfRevision: &none}); !errors.Is(err, abi.Conflict) {
		t.Errorf("Set of a stored fact as a new one = %v; want conflict", err)
	}
	loose := must(c.Facts().Set(ctx, ben, path, json.RawMessage(`7`), client.WriteOptions{IfRevision: &set.Revision}))(t)
	if len(loose.Violations) != 1 || loose.Violations[0].Keyword != "type" {
		t.Errorf("Set of a number has the violations %v; want one of the type", loose.Violations)
	}
	must(c.Facts().Set(ctx, ben, "user.travel.seat", json.RawMessage(`3`), client.WriteOptions{}))(t)
	must(c.Facts().Set(ctx, client.Caller{}, "project.rate", json.RawMessage(`1.5`), client.WriteOptions{}))(t)
	for q, want := range map[client.FactQuery]int{
		{}: 3, {Prefix: "user"}: 2, {Domain: "travel"}: 1, {PageQuery: client.PageQuery{Limit: 1}}: 3, {Prefix: "user.tr"}: 0,
	} {
		n := 0
		for f, err := range c.Facts().All(ctx, ben, q) {
			if n++; err != nil || f.Revision == 0 {
				t.Fatalf("All(%+v) returned %+v, %v; want a stored fact", q, f, err)
			}
		}
		if n != want {
			t.Errorf("All(%+v) has %d facts; want %d", q, n, want)
		}
	}
	if deleted := must(c.Facts().Delete(ctx, ben, path, &loose.Revision))(t); !deleted.Deleted {
		t.Errorf("Delete = %+v; want Deleted", deleted)
	}
	workflows(t, c)
	if _, err := c.Facts().Get(ctx, ben, "language"); !errors.Is(err, abi.InvalidArgument) {
		t.Errorf("Get of a name without a dot = %v; want invalid_argument", err)
	}
}

func workflows(t *testing.T, c *client.Client) {
	ctx, flow := t.Context(), client.Caller{User: "ben", Workflow: "order-7"}
	must(c.Facts().Set(ctx, flow, "workflow.step", json.RawMessage(`1`), client.WriteOptions{}))(t)
	if found := must(c.Workflows().Get(ctx, flow))(t); found.ID != "order-7" || found.User != "ben" || found.Ended != nil {
		t.Errorf("Get = %+v; want the open workflow", found)
	}
	n := 0
	for w, err := range c.Workflows().All(ctx, client.WorkflowQuery{User: "ben", PageQuery: client.PageQuery{Limit: 1}}) {
		if n++; err != nil || w.ID != "order-7" {
			t.Errorf("All returned %+v, %v; want the workflow order-7", w, err)
		}
	}
	if n != 1 {
		t.Errorf("All has %d workflows; want 1", n)
	}
	for range 2 {
		if ended := must(c.Workflows().End(ctx, flow))(t); ended.Ended == nil {
			t.Errorf("End = %+v; want an ended workflow", ended)
		}
	}
	if _, err := c.Facts().Get(ctx, flow, "workflow.step"); !errors.Is(err, abi.WorkflowEnded) {
		t.Errorf("Get in an ended workflow = %v; want workflow_ended", err)
	}
}
