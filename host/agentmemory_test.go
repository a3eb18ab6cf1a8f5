package host_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/model/modeltest"
	"github.com/toolrun/toolrun/host/report"
)

const rememberingAgents = `AGENT: agent_records
TOOLS: [recall_memory, update_memory]
FLOW:
  talk:
    REASONING: true
    MODEL: local
    MAX_TURNS: 1
    THEN: COMPLETE
`

const callingAgent = `AGENT: agent_emails
TOOLS: [recall_memory, update_memory]
MEMORY:
  session:
    - query
    - found
    - version
FLOW:
  note:
    REASONING: false
    ON_INPUT:
      - IF: input == "note"
        CALL: update_memory(content: "- Wants emails", append: true, scope: "agent")
        ON_SUCCESS:
          RESPOND: "Noted."
        THEN: COMPLETE
      - IF: input == "replace"
        CALL: update_memory(content: "- Replaced")
        ON_FAIL:
          RESPOND: "{{call_error.code}}"
        THEN: COMPLETE
      - ELSE:
        SET: query = input
        CALL: recall_memory(query, limit: 1)
          AS: found
        RESPOND: "{{found.results[0].content}}"
        THEN: COMPLETE
`

func openRemembering(t *testing.T) (*host.Host, *modeltest.Server) {
	t.Helper()
	server := modeltest.Start()
	t.Cleanup(server.Close)
	h := openBlocksApp(t, fstest.MapFS{"records.abl": {Data: []byte(rememberingAgents)}, "emails.abl": {Data: []byte(callingAgent)}},
		func(o *host.Options) { o.Models = modelSet(t, server, "") })
	return h, server
}

func sayWith(t *testing.T, h *host.Host, name, text string, p host.MemoryPolicy) *report.Turn {
	t.Helper()
	result, err := h.Agents().Turn(t.Context(), host.Turn{Agent: name, Caller: annInS1, Message: &text, MemoryPolicy: p})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// The request to a model contains the user's block "core" and the agent's block "core". In the mode
// "auto", the request also contains the lines that match the message. The result reports what the
// model has received.
func TestMemoryOfAgent(t *testing.T) {
	h, server := openRemembering(t)
	server.Script(modeltest.Reply{Text: "Soon."}, modeltest.Reply{Text: "In May."}, modeltest.Reply{Text: "No idea."})
	first := sayWith(t, h, "agent_records", "Acme renewal?", host.MemoryPolicy{})
	second := sayWith(t, h, "agent_records", "Acme renewal?", host.MemoryPolicy{ArchivalMode: host.ArchivalAuto})
	no := false
	third := sayWith(t, h, "agent_records", "Acme renewal?", host.MemoryPolicy{IncludeUserCore: &no, IncludeAgentCore: &no})
	bodies := server.Requests()
	if len(bodies) != 3 {
		t.Fatalf("%d requests; want 3", len(bodies))
	}
	for i, want := range []struct{ core, archival bool }{{true, false}, {true, true}, {false, false}} {
		body := string(bodies[i].Body)
		if strings.Contains(body, "concise answers") != want.core || strings.Contains(body, "Answers in tables") != want.core || strings.Contains(body, "CFO wants") != want.archival {
			t.Errorf("request %d contains other blocks than %+v:\n%s", i, want, body)
		}
	}
	if len(first.UserMemory) != 1 || len(second.UserMemory) != 1 || len(third.UserMemory) != 0 {
		t.Fatalf("reported memory = %v, %v, %v; want one, one and none", first.UserMemory, second.UserMemory, third.UserMemory)
	}
	if m := second.UserMemory[0]; m.Agent != "agent_records" || len(m.SystemReminders) != 2 || !strings.Contains(m.UserMemory, "concise") {
		t.Errorf("reported memory = %+v", m)
	}
	if !slices.ContainsFunc(second.Effects.Reads, func(r report.ReadEffect) bool { return r.Store == "archival" && r.Revision > 0 }) {
		t.Errorf("the effects lack the read of archival: %+v", second.Effects.Reads)
	}
	if slices.ContainsFunc(first.Effects.Reads, func(r report.ReadEffect) bool { return r.Store == "archival" }) {
		t.Errorf("the effects contain a read of archival: %+v", first.Effects.Reads)
	}
}

// A model uses tools to search and change the memory. If the model replaces a text, the stored
// version must be the version in the model's prompt.
func TestMemoryToolsOfModel(t *testing.T) {
	h, server := openRemembering(t)
	server.Script(
		modeltest.Reply{Calls: [][2]string{{"recall_memory", `{"query": "DPA"}`}}},
		modeltest.Reply{Calls: [][2]string{{"update_memory", `{"content": "- Prefers coffee"}`}, {"update_memory", `{"content": "- Prefers tea"}`}}},
		modeltest.Reply{Calls: [][2]string{{"update_memory", `{"block": "archival", "content": "- Initech: lost", "append": true}`}, {"update_memory", `{"block": "nope", "content": "x"}`}}},
		modeltest.Reply{Text: "Done."})
	result := sayWith(t, h, "agent_records", "remember that I like tea", host.MemoryPolicy{})
	if !slices.Equal(result.Messages, []string{"Done."}) {
		t.Fatalf("messages = %q", result.Messages)
	}
	requests := server.Requests()
	if body := string(requests[1].Body); !strings.Contains(body, "legal approved the DPA") {
		t.Errorf("the model did not receive the line:\n%s", body)
	}
	if body := string(requests[3].Body); !strings.Contains(body, "not_found") {
		t.Errorf("the model did not receive the fault of a wrong input:\n%s", body)
	}
	if b, err := h.Blocks().Get(t.Context(), host.Caller{User: "ann"}, "core", false); err != nil || b.Content != "- Prefers tea" {
		t.Errorf("core = %+v, %v", b, err)
	}
	if b, err := h.Blocks().Get(t.Context(), host.Caller{User: "ann"}, "archival", false); err != nil || b.Content != archivalText+"\n- Initech: lost" {
		t.Errorf("archival = %+v, %v", b, err)
	}
}

// If the model passes an expected version, a line is added only if the stored text has this
// version.
func TestMemoryToolsAppendConflict(t *testing.T) {
	h, server := openRemembering(t)
	server.Script(
		modeltest.Reply{Calls: [][2]string{
			{"update_memory", `{"block": "archival", "content": "- lost", "append": true, "expected_updated_at": "2020-01-01T00:00:00Z"}`},
		}},
		modeltest.Reply{Text: "Sorry."})
	sayWith(t, h, "agent_records", "Initech is lost", host.MemoryPolicy{})
	if body := string(server.Requests()[1].Body); !strings.Contains(body, "has changed since it was read") {
		t.Errorf("the model did not receive the conflict:\n%s", body)
	}
	if b, err := h.Blocks().Get(t.Context(), host.Caller{User: "ann"}, "archival", false); err != nil || b.Content != archivalText {
		t.Errorf("archival = %+v, %v; want it unchanged", b, err)
	}
}

// A person changes the block "core" while the model answers. The model's replacement of the block
// must not overwrite this change.
func TestMemoryToolsConflict(t *testing.T) {
	h, server := openRemembering(t)
	server.Script(
		modeltest.Reply{Calls: [][2]string{{"update_memory", `{"content": "- Prefers tea"}`}}},
		modeltest.Reply{Text: "Sorry."})
	release := server.Hold()
	done := make(chan *report.Turn)
	go func() {
		text := "tea"
		result, _ := h.Agents().Turn(t.Context(), host.Turn{Agent: "agent_records", Caller: annInS1, Message: &text})
		done <- result
	}()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := server.Await(ctx, 1); err != nil {
		t.Fatal(err)
	}
	before, err := h.Blocks().Get(t.Context(), host.Caller{User: "ann"}, "core", false)
	if err != nil {
		t.Fatal(err)
	}
	u := host.BlockUpdate{Name: "core", Content: "- Edited by a person"}
	u.Expected.Updated = before.Updated
	if _, err := h.Blocks().Update(t.Context(), host.Caller{User: "ann"}, u); err != nil {
		t.Fatal(err)
	}
	release()
	result := <-done
	if !slices.Equal(result.Messages, []string{"Sorry."}) || !strings.Contains(string(server.Requests()[1].Body), string(abi.Conflict)) {
		t.Errorf("messages = %q, error = %v; want a conflict for the model", result.Messages, result.Error)
	}
	if b, err := h.Blocks().Get(t.Context(), host.Caller{User: "ann"}, "core", false); err != nil || b.Content != "- Edited by a person" {
		t.Errorf("core = %+v, %v; want the text of the person", b, err)
	}
}

// Agents call the tools on memory like other tools.
func TestMemoryToolsOfFlow(t *testing.T) {
	h, _ := openRemembering(t)
	emails := host.Caller{User: "ann", Agent: "agent_emails"}
	for _, c := range []struct{ input, want string }{
		{"DPA approval", "Globex implementation: legal approved the DPA on 2026-04-18."},
		{"note", "Noted."}, {"note", "Noted."},
		{"replace", "conflict"},
	} {
		if _, err := h.Agents().Turn(t.Context(), host.Turn{Agent: "agent_emails", Caller: annInS1}); err != nil {
			t.Fatal(err)
		}
		if result := sayWith(t, h, "agent_emails", c.input, host.MemoryPolicy{}); !slices.Equal(result.Messages, []string{c.want}) {
			t.Errorf("%s: messages = %q; want %q", c.input, result.Messages, c.want)
		}
	}
	b, err := h.Blocks().Get(t.Context(), emails, "core", true)
	if err != nil || b == nil || b.Content != "- Wants emails\n- Wants emails" {
		t.Errorf("core of the agent = %+v, %v", b, err)
	}
}

// A turn without a user has no memory, and an invalid policy is rejected.
func TestMemoryOfAgentWithoutUser(t *testing.T) {
	h, server := openRemembering(t)
	server.Script(modeltest.Reply{Text: "Hello."})
	text := "hi"
	result, err := h.Agents().Turn(t.Context(), host.Turn{Agent: "agent_records", Message: &text, MemoryPolicy: host.MemoryPolicy{ArchivalMode: host.ArchivalAuto}})
	if err != nil || len(result.UserMemory) != 0 {
		t.Errorf("memory = %v, %v; want none", result.UserMemory, err)
	}
	result, err = h.Agents().Turn(t.Context(), host.Turn{Agent: "agent_records", Message: &text, MemoryPolicy: host.MemoryPolicy{ArchivalMode: "x"}})
	if err == nil || result.Error.Code != abi.InvalidArgument {
		t.Errorf("error = %v; want invalid_argument", err)
	}
}

// The policy is a part of the request that an idempotency key identifies.
func TestMemoryPolicyOfRepeatedTurn(t *testing.T) {
	h, server := openRemembering(t)
	server.Script(modeltest.Reply{Text: "Hello."})
	text := "hi"
	turn := host.Turn{Agent: "agent_records", Caller: annInS1, Message: &text, Key: "k1"}
	first, err := h.Agents().Turn(t.Context(), turn)
	if err != nil || len(first.UserMemory) != 1 {
		t.Fatalf("memory = %v, %v", first.UserMemory, err)
	}
	again, err := h.Agents().Turn(t.Context(), turn)
	if err != nil || !again.Repeated || len(again.UserMemory) != 1 || again.UserMemory[0].UserMemory != first.UserMemory[0].UserMemory {
		t.Errorf("the repeated turn = %+v, %v; want the memory of the first one", again.UserMemory, err)
	}
	turn.MemoryPolicy.ArchivalMode = host.ArchivalAuto
	if other, err := h.Agents().Turn(t.Context(), turn); err == nil || other.Repeated {
		t.Errorf("a request with another policy = %+v; want a fault", other)
	}
}
