package mcpapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/report"
)

func TestListTools(t *testing.T) {
	list, err := client(t, openShop(t), host.Caller{}).ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	type hints struct{ ReadOnly, Destructive, Idempotent bool }
	got := map[string]hints{}
	tools := map[string]*mcp.Tool{}
	for _, tool := range list.Tools {
		a := tool.Annotations
		got[tool.Name] = hints{a.ReadOnlyHint, *a.DestructiveHint, a.IdempotentHint}
		tools[tool.Name] = tool
		if a.OpenWorldHint == nil || *a.OpenWorldHint {
			t.Errorf("%s has openWorldHint %v; want false", tool.Name, a.OpenWorldHint)
		}
		if schema, _ := tool.InputSchema.(map[string]any); schema["type"] != "object" {
			t.Errorf("%s has the input schema %v; want one with the type object", tool.Name, tool.InputSchema)
		}
	}
	want := map[string]hints{ // without the tools broken and header; the SDK panics on header
		"order": {false, false, true}, "forget": {false, true, false}, "count": {true, false, false},
		"chatter": {true, false, false}, "endless": {true, false, false}, "retry": {false, true, false},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the tools (-want +got):\n%s", diff)
	}
	order := tools["order"]
	if order.Title != "Order" || order.Description != "Order something" || order.OutputSchema == nil {
		t.Errorf("order is listed as %+v; want its title, description and output schema", order)
	}
	if required := order.InputSchema.(map[string]any)["required"]; !cmp.Equal(required, []any{"item"}) {
		t.Errorf("the input schema of order requires %v; want item", required)
	}
	if schema := tools["count"].OutputSchema; schema != nil {
		t.Errorf("count has the output schema %v; want none, because its type is not object", schema)
	}
}

func TestCallExamples(t *testing.T) {
	c := client(t, openExamples(t), host.Caller{User: "ann"})
	tests := []struct {
		tool  string
		input map[string]any
		want  string
	}{
		{"remember_me", map[string]any{"language": "fr"}, `{"greeting":"Hello, stranger! I will remember fr."}`},
		{"hit_counter", map[string]any{"page": "/tea"}, `{"page":"/tea","hits":1}`},
		{"hit_counter", map[string]any{"page": "/tea"}, `{"page":"/tea","hits":2}`},
		{"conversation_summary", map[string]any{"note": "likes tea"}, `{"notes":["- likes tea"],"dropped":0}`},
		{"conversation_summary", map[string]any{"note": "drives"}, `{"notes":["- likes tea","- drives"],"dropped":0}`}, // the same session
	}
	for _, test := range tests {
		result := call(t, c, test.tool, test.input)
		if got := text(t, result); result.IsError || got != test.want {
			t.Errorf("%s(%v) = %s, error %t; want %s", test.tool, test.input, got, result.IsError, test.want)
			continue
		}
		var want any
		if err := json.Unmarshal([]byte(test.want), &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, result.StructuredContent); diff != "" {
			t.Errorf("%s: the structured content (-want +got):\n%s", test.tool, diff)
		}
	}
}

// If an output is not an object, the result contains the output only as text.
func TestOutputThatIsNoObject(t *testing.T) {
	result := call(t, client(t, openShop(t), host.Caller{}), "count", nil)
	if got := text(t, result); got != "[1,2]" || result.StructuredContent != nil || result.IsError {
		t.Errorf("count = %s, structured %v, error %t; want [1,2] as text only", got, result.StructuredContent, result.IsError)
	}
}

func TestFailedRuns(t *testing.T) {
	c := client(t, openShop(t), host.Caller{User: "ann"})
	tests := []struct {
		name, tool string
		input      any
		want       string // start of the text
		code       abi.Code
	}{
		{"an input that does not fit", "order", map[string]any{"item": 5}, "input_invalid: ", abi.InputInvalid},
		{"no input", "order", nil, "input_invalid: ", abi.InputInvalid},
		{"an input that is not an object", "order", []int{1}, "input_invalid: ", abi.InputInvalid},
		{"a tool that throws", "chatter", nil, "tool_error: no", abi.ToolError},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			result := call(t, c, test.tool, test.input)
			fault, _ := result.Meta["toolrun/fault"].(map[string]any)
			if got := text(t, result); !result.IsError || !strings.HasPrefix(got, test.want) || fault["code"] != string(test.code) {
				t.Errorf("%s = %q, error %t, fault %v; want an error with the prefix %q", test.tool, got, result.IsError, fault, test.want)
			}
		})
	}
	fault, _ := call(t, c, "order", map[string]any{"item": 5}).Meta["toolrun/fault"].(map[string]any)
	if violations, _ := fault["violations"].([]any); len(violations) != 1 {
		t.Errorf("the fault is %v; want one violation", fault)
	}
}

// An unknown tool results in a protocol error, not in a result.
func TestUnknownTool(t *testing.T) {
	c := client(t, openShop(t), host.Caller{})
	for _, tool := range []string{"nothing", "broken", "header", ""} {
		_, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool})
		failed, ok := errors.AsType[*jsonrpc.Error](err)
		if !ok || failed.Code != jsonrpc.CodeInvalidParams {
			t.Errorf("call %q = %v; want a protocol error for invalid params", tool, err)
		}
	}
}

func TestCancelledCallStopsTheRun(t *testing.T) {
	runs := &results{ended: make(chan *report.Result, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	// The tool writes a log line, so cancel is called after the run has begun.
	c, _ := connectAt(t, handshake, serve(t, openShop(t, runs)), host.Caller{}, onLog(cancel))
	setLevel(t, c, "debug")
	if _, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "endless"}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled call = %v; want cancelled", err)
	}
	if result := <-runs.ended; !errors.Is(result.Error, abi.Cancelled) {
		t.Errorf("the run ended with %v; want cancelled", result.Error)
	}
}
