package host_test

import (
	"encoding/json"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/model/modeltest"
)

const reasoningAgents = `AGENT: Shop
GOAL: "Sell"
TOOLS: [pay]
MEMORY:
  session:
    - paid
      TYPE: boolean
  persistent:
    - user.limit
      DEFAULT: 10
CONSTRAINTS:
  always:
    - REQUIRE user.limit >= 10 BEFORE calling pay
      ON_FAIL: "The limit is {{user.limit}}."
FLOW:
  talk:
    REASONING: true
    MODEL: local
    CHECK: user.limit > 0
    EXIT_WHEN: paid
    THEN: bye
  bye:
    REASONING: false
    RESPOND: "Bye."
    THEN: COMPLETE
`

// openReasoning opens a host with an agent that a model executes.
func openReasoning(t *testing.T) (*host.Host, *modeltest.Server) {
	t.Helper()
	server := modeltest.Start()
	t.Cleanup(server.Close)
	files := fstest.MapFS{
		"app.yaml": {Data: []byte("app: shop\nmemory:\n  bills: {access: user}\ntools:\n  pay:\n    source: pay.js\n    grants: {bills: readwrite}\n" +
			"    inputSchema: {type: object, properties: {amount: {type: number}}, required: [amount]}\n")},
		"pay.js":     {Data: []byte(`await memory.set_content("bills", {amount: $amount}); if ($amount > 100) throw new Error("too much"); return {ok: true};`)},
		"shop.abl":   {Data: []byte(reasoningAgents)},
		"limits.abl": {Data: []byte("AGENT: Limits\nMEMORY:\n  persistent:\n    - user.limit\nFLOW:\n  one:\n    REASONING: false\n    SET: user.limit = TO_NUMBER(input)\n    THEN: COMPLETE\n")},
	}
	return openApp(t, files, func(o *host.Options) { o.Models = modelSet(t, server, "") }), server
}

// TestModelOfAgent executes a step with a model. The constraints must apply to the tool calls of
// the model. If such a call fails, its changes must be undone. The answer of the model must become
// a message.
func TestModelOfAgent(t *testing.T) {
	h, server := openReasoning(t)
	server.Script(
		modeltest.Reply{Calls: [][2]string{{"pay", `{"amount": 500}`}}},
		modeltest.Reply{Calls: [][2]string{{"set_variables", `{"paid": true}`}, {"pay", `{"amount": 5}`}}},
		modeltest.Reply{Text: "Paid."})
	message := "buy"
	result, err := h.Agents().Turn(t.Context(), host.Turn{Agent: "Shop", Caller: annInS1, Message: &message})
	if err != nil || !slices.Equal(result.Messages, []string{"Paid.", "Bye."}) || !result.Done {
		t.Fatalf("messages = %q, %v", result.Messages, err)
	}
	if n := len(server.Requests()); n != 3 || result.Usage.Model.Calls != 3 {
		t.Errorf("the provider received %d requests, and the usage contains %d calls; want the same number", n, result.Usage.Model.Calls)
	}
	var bills []string
	for _, w := range result.Effects.Writes {
		if w.Store == "bills" {
			bills = append(bills, w.Op)
		}
	}
	if len(bills) != 1 {
		t.Errorf("writes of bills = %v; want the one of the call that succeeded", bills)
	}
	if !json.Valid(server.Requests()[0].Body) {
		t.Error("the request is not JSON")
	}
}

// TestModelOfAgentAsksOnce starts a turn that reads a fact and then waits for a model. While the
// turn waits, the test changes the fact. The turn must be executed again with the new fact. The
// second execution must use the first answer of the model.
func TestModelOfAgentAsksOnce(t *testing.T) {
	h, server := openReasoning(t)
	server.Script(modeltest.Reply{Calls: [][2]string{{"pay", `{"amount": 5}`}}})
	release := server.Hold()
	type answer struct {
		messages []string
		err      error
	}
	done := make(chan answer)
	go func() {
		message := "buy"
		result, err := h.Agents().Turn(t.Context(), host.Turn{Agent: "Shop", Caller: annInS1, Message: &message})
		done <- answer{result.Messages, err}
	}()
	if err := server.Await(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	limit := "3"
	if _, err := h.Agents().Turn(t.Context(), host.Turn{Agent: "Limits", Caller: host.Caller{User: "ann", Session: "s2"}, Message: &limit}); err != nil {
		t.Fatal(err)
	}
	release()
	a := <-done
	if a.err != nil || !slices.Equal(a.messages, []string{"The limit is 3."}) {
		t.Errorf("messages = %q, %v; want the new limit", a.messages, a.err)
	}
	if n := len(server.Requests()); n != 1 {
		t.Errorf("the provider received %d requests; want 1", n)
	}
}
