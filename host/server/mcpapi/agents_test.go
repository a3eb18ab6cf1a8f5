package mcpapi_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
)

// talkative is an app with two agents. One of these agents has the same name as a tool.
var talkative = fstest.MapFS{
	"app.yaml": {Data: []byte("app: talk\ntools: {Echo: {source: echo.js}}\n")},
	"echo.js":  {Data: []byte(`return "tool"`)},
	"echo.abl": {Data: []byte(`
AGENT: Echo
GOAL: "Repeat the user."
MEMORY:
  session:
    - secret
      INITIAL: "not for clients"
FLOW:
  ask:
    REASONING: false
    RESPOND: "Yes?"
    ON_INPUT:
      - IF: input == "bye"
        RESPOND: "Bye!"
        THEN: COMPLETE
      - ELSE:
        RESPOND: "You said {{input}}."
        THEN: ask
`)},
}

func TestAgentIsTool(t *testing.T) {
	a, problems := app.Load(talkative, "app.yaml")
	if problems.Err() != nil {
		t.Fatal(problems)
	}
	c := client(t, open(t, a), host.Caller{User: "ann"})
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	tools := map[string]*mcp.Tool{}
	for _, tool := range list.Tools {
		tools[tool.Name] = tool
	}
	agent := tools["agent_Echo"]
	if len(tools) != 2 || tools["Echo"] == nil || agent == nil || !strings.HasPrefix(agent.Description, "Repeat the user. ") {
		t.Fatalf("the tools are %v; want the tool Echo and the agent agent_Echo", tools)
	}
	for _, tt := range []struct {
		input any
		want  string
		done  bool
	}{
		{nil, "Yes?", false}, {map[string]any{"message": "tea"}, "You said tea.\n\nYes?", false}, {map[string]any{"message": "bye"}, "Bye!", true},
	} {
		result := call(t, c, "agent_Echo", tt.input)
		content, _ := result.StructuredContent.(map[string]any)
		if got := text(t, result); result.IsError || got != tt.want || content["done"] != tt.done || content["agent"] != "Echo" {
			t.Errorf("a call with %v = %q, %v; want %q, done %t", tt.input, got, result.StructuredContent, tt.want, tt.done)
		}
		if _, shown := content["variables"]; shown {
			t.Errorf("the client receives the variables: %v", content)
		}
	}
	if result := call(t, c, "agent_Echo", map[string]any{"message": 5}); !result.IsError || !strings.HasPrefix(text(t, result), "input_invalid: ") {
		t.Errorf("a message that is a number = %q; want input_invalid", text(t, result))
	}
}
