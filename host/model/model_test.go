package model_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/model"
)

func say(content string) []model.Message {
	return []model.Message{{Role: model.User, Content: content}}
}

func TestCanonical(t *testing.T) {
	base := model.ChatRequest{Messages: say("a"), Schema: json.RawMessage(`{"type":"object","properties":{"b":{},"a":{}}}`)}
	want, err := base.Canonical()
	if err != nil {
		t.Fatal(err)
	}
	spelled := base
	spelled.Schema = json.RawMessage("{ \"properties\": {\"\\u0061\":{},\n\"b\":{}}, \"type\": \"object\" }")
	spelled.IdempotencyKey = "k"
	if got, err := spelled.Canonical(); err != nil || string(got) != string(want) {
		t.Errorf("Canonical() of another spelling = %s, %v; want %s", got, err, want)
	}
	for name, change := range map[string]func(*model.ChatRequest){
		"content":    func(r *model.ChatRequest) { r.Messages = say("b") },
		"role":       func(r *model.ChatRequest) { r.Messages = []model.Message{{Role: model.System, Content: "a"}} },
		"schema":     func(r *model.ChatRequest) { r.Schema = json.RawMessage(`{"type":"string"}`) },
		"tools":      func(r *model.ChatRequest) { r.Tools = []model.Tool{{Name: "t"}} },
		"max_tokens": func(r *model.ChatRequest) { r.MaxTokens = 1 },
	} {
		other := base
		change(&other)
		if got, err := other.Canonical(); err != nil || string(got) == string(want) {
			t.Errorf("%s: Canonical() = %s, %v; want bytes that differ from the original request", name, got, err)
		}
	}
}

func TestCanonicalRejects(t *testing.T) {
	tools := func(tools ...model.Tool) model.ChatRequest {
		return model.ChatRequest{Messages: say("a"), Tools: tools}
	}
	for name, tc := range map[string]struct {
		request model.ChatRequest
		want    abi.Code
	}{
		"no messages":       {model.ChatRequest{}, abi.InvalidArgument},
		"many messages":     {model.ChatRequest{Messages: make([]model.Message, model.MaxMessages+1)}, abi.TooLarge},
		"role":              {model.ChatRequest{Messages: []model.Message{{Role: "boss"}}}, abi.InvalidArgument},
		"utf-8":             {model.ChatRequest{Messages: say("\xff")}, abi.InvalidArgument},
		"tool without id":   {model.ChatRequest{Messages: []model.Message{{Role: model.ToolRole}}}, abi.InvalidArgument},
		"calls of a user":   {model.ChatRequest{Messages: []model.Message{{Role: model.User, ToolCalls: []model.ToolCall{{}}}}}, abi.InvalidArgument},
		"schema":            {model.ChatRequest{Messages: say("a"), Schema: json.RawMessage(`{"type":"objekt"}`)}, abi.InvalidArgument},
		"malformed schema":  {model.ChatRequest{Messages: say("a"), Schema: json.RawMessage(`{`)}, abi.InvalidArgument},
		"max_tokens":        {model.ChatRequest{Messages: say("a"), MaxTokens: -1}, abi.InvalidArgument},
		"tool without name": {tools(model.Tool{}), abi.InvalidArgument},
		"tool twice":        {tools(model.Tool{Name: "t"}, model.Tool{Name: "t"}), abi.InvalidArgument},
		"parameters":        {tools(model.Tool{Name: "t", Parameters: json.RawMessage(`[]`)}), abi.InvalidArgument},
		"many tools":        {tools(make([]model.Tool, model.MaxTools+1)...), abi.TooLarge},
		"bytes":             {model.ChatRequest{Messages: say(strings.Repeat("a", model.MaxRequestBytes))}, abi.TooLarge},
	} {
		if _, err := tc.request.Canonical(); !errors.Is(err, tc.want) {
			t.Errorf("%s: Canonical() = %v; want %s", name, err, tc.want)
		}
	}
}

func TestAnswer(t *testing.T) {
	object := model.ChatRequest{Schema: json.RawMessage(`{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}`)}
	tools := model.ChatRequest{Tools: []model.Tool{{Name: "add", Parameters: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)}, {Name: "any"}}}
	call := func(name, arguments string) []model.ToolCall {
		return []model.ToolCall{{ID: "1", Name: name, Arguments: json.RawMessage(arguments)}}
	}
	for name, tc := range map[string]struct {
		request model.ChatRequest
		text    string
		calls   []model.ToolCall
		want    string // the answer as JSON or, after a failure, the code of the fault
	}{
		"text":             {model.ChatRequest{}, "hi", nil, `{"text":"hi",`},
		"object":           {object, " {\"n\": 1}\n", nil, `{"object":{"n":1},`},
		"wrong object":     {object, `{"n":"secret"}`, nil, "schema_violation"},
		"no JSON":          {object, "secret", nil, "schema_violation"},
		"duplicate name":   {object, `{"n":1,"n":2}`, nil, "schema_violation"},
		"call":             {tools, "", call("add", `{"n": 1}`), `{"tool_calls":[{"id":"1","name":"add","arguments":{"n":1}}],`},
		"call, any object": {tools, "", call("any", `{"x":[]}`), `{"tool_calls":[{"id":"1","name":"any","arguments":{"x":[]}}],`},
		"unknown tool":     {tools, "", call("secret", `{}`), "schema_violation"},
		"wrong arguments":  {tools, "", call("add", `{"n":"secret"}`), "schema_violation"},
		"not an object":    {tools, "", call("any", `["secret"]`), "schema_violation"},
		"call, no tools":   {model.ChatRequest{}, "", call("add", `{}`), "schema_violation"},
	} {
		answer, err := tc.request.Answer(tc.text, tc.calls)
		got, _ := json.Marshal(answer)
		if err != nil {
			fault := abi.FaultOf(err)
			got, _ = json.Marshal(fault)
			if string(fault.Code) == tc.want && !strings.Contains(string(got), "secret") {
				continue
			}
		}
		if !strings.HasPrefix(string(got), tc.want) {
			t.Errorf("%s: Answer() = %s; want %s", name, got, tc.want)
		}
	}
}

// The answer of a model must match the schema of the request.
func ExampleChatRequest_Answer() {
	request := model.ChatRequest{
		Messages: []model.Message{{Role: model.User, Content: "How many legs has a spider?"}},
		Schema:   json.RawMessage(`{"type": "object", "properties": {"legs": {"type": "integer"}}}`),
	}
	answer, err := request.Answer(`{"legs": 8}`, nil)
	fmt.Printf("%s %v\n", answer.Object, err)
	_, err = request.Answer(`{"legs": "eight"}`, nil)
	fmt.Println(errors.Is(err, abi.SchemaViolation))
	// Output:
	// {"legs":8} <nil>
	// true
}
