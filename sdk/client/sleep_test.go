package client_test

import (
	"testing"

	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
	"github.com/toolrun/toolrun/sdk/client"
)

// sleep records messages, and pauses, resumes and retries the runs.
func sleep(t *testing.T, c *client.Client) {
	ctx := t.Context()
	messages := apitypes.MessagesRequest{User: "ann", Agent: "agent_emails", Messages: []apitypes.Message{{Role: "user", Content: "I like tea.\nReally."}}}
	if added := must(c.Sessions().AddMessages(ctx, "sleepy", messages))(t); added.Session != "sleepy" || added.Messages != 1 {
		t.Errorf("AddMessages = %+v", added)
	}
	if s := must(c.Sleep().Status(ctx))(t); s.Waiting < 1 || s.Paused || s.Next == nil {
		t.Errorf("Status = %+v; want one conversation that waits", s)
	}
	if s := must(c.Sleep().Pause(ctx))(t); !s.Paused || s.Since == nil {
		t.Errorf("Pause = %+v", s)
	}
	if s := must(c.Sleep().Resume(ctx))(t); s.Paused {
		t.Errorf("Resume = %+v", s)
	}
	if s := must(c.Sleep().Retry(ctx))(t); s.Failed != 0 || s.Waiting < 1 {
		t.Errorf("Retry = %+v; want no failed run", s)
	}
}
