package mcpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/report"
)

// offeredAgent is an agent in the form in which MCP lists it: a tool whose input is a message.
type offeredAgent struct {
	agent string
	tool  *mcp.Tool
}

// messageSchema is the schema of the input of agents. The first call of a conversation does not
// need a message.
var messageSchema = json.RawMessage(`{"type":"object","properties":{"message":{"type":"string","description":"Message to the agent. The first call of a conversation may omit it"}},"additionalProperties":false}`)

// describeAgent returns an agent as a tool. The argument tools contains the names of the app's
// tools.
func describeAgent(a host.AgentInfo, tools []string) offeredAgent {
	name := a.Name
	if slices.Contains(tools, name) {
		name = "agent_" + name
	}
	destructive, outside := true, false // the agent's tools can replace stored content
	return offeredAgent{a.Name, &mcp.Tool{
		Name: name, Title: strings.ReplaceAll(a.Name, "_", " "), Description: agentDescription(a), InputSchema: messageSchema,
		Annotations: &mcp.ToolAnnotations{DestructiveHint: &destructive, OpenWorldHint: &outside},
	}}
}

func agentDescription(a host.AgentInfo) string {
	const use = "An agent: send a message, and it answers or asks for what it needs. It remembers the conversation."
	if a.Goal == "" {
		return use
	}
	return strings.TrimRight(a.Goal, ".") + ". " + use
}

// answerOfAgent is the structured content of a turn. answerOfAgent omits the variables and the
// trace, which are not meant for the client's model.
type answerOfAgent struct {
	Agent      string   `json:"agent"`
	Messages   []string `json:"messages"`
	Step       *string  `json:"step"`
	Collecting *string  `json:"collecting"`
	Done       bool     `json:"done"`
	Blocked    bool     `json:"blocked"`
	Escalate   bool     `json:"escalate"`
	Handoff    *string  `json:"handoff"`
}

// talk returns a handler that performs turns with an agent.
func (s *session) talk(agent string) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		message, err := messageOf(req.Params.Arguments)
		if err != nil {
			return refusedCall(abi.FaultOf(err)), nil
		}
		ctx, cancel := s.until(ctx)
		defer cancel()
		notify := newNotifier(ctx, req)
		notify.progress("the turn begins")
		result, _ := s.api.host.Agents().Turn(ctx, host.Turn{Agent: agent, Caller: s.current(), Message: message, OnLog: notify.log})
		notify.progress("the turn has ended")
		notify.close()
		return answerTurn(result), nil
	}
}

// messageOf returns the message in the arguments of a call, or nil if no message exists.
func messageOf(arguments json.RawMessage) (*string, error) {
	var input struct {
		Message *string `json:"message"`
	}
	if len(arguments) == 0 {
		return nil, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(arguments))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&input); err != nil {
		return nil, abi.Faultf(abi.InputInvalid, "the input of an agent must be an object whose only member is the string \"message\"").WithHint(`send {"message": "Hello"}`)
	}
	return input.Message, nil
}

// refusedCall returns the result of a call that failed before a turn began.
func refusedCall(f *abi.Fault) *mcp.CallToolResult {
	return &mcp.CallToolResult{
		Meta: mcp.Meta{metaFault: f}, IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: f.Error()}},
	}
}

func answerTurn(r *report.Turn) *mcp.CallToolResult {
	meta := mcp.Meta{metaRun: runMeta{r.TurnID, r.Attempts, r.Warnings}}
	if r.Error != nil {
		out := refusedCall(r.Error)
		out.Meta[metaRun] = meta[metaRun]
		return out
	}
	return &mcp.CallToolResult{
		Meta:    meta,
		Content: []mcp.Content{&mcp.TextContent{Text: strings.Join(r.Messages, "\n\n")}},
		StructuredContent: answerOfAgent{
			Agent: r.Agent, Messages: r.Messages, Step: r.Step, Collecting: r.Collecting,
			Done: r.Done, Blocked: r.Blocked, Escalate: r.Escalate, Handoff: r.Handoff,
		},
	}
}
