package mcpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory/block"
	"github.com/toolrun/toolrun/internal/strictjson"
)

// The names of the tools for blocks.
const (
	updateMemory = "update_memory"
	recallMemory = "recall_memory"
)

// offeredMemory is a tool for blocks or collections. Only clients that act for a user see the tool.
type offeredMemory struct {
	tool *mcp.Tool
	call func(*session) mcp.ToolHandler
}

// describeMemory creates the tools for blocks, if the app has blocks. The argument "taken" contains
// the names of the app's tools and agents.
func (s *Server) describeMemory(taken []string) {
	declared := s.host.Blocks().Declared()
	if len(declared) == 0 {
		return
	}
	replaces, outside := true, false
	offered := []offeredMemory{
		{&mcp.Tool{
			Name: updateMemory, Title: "Update memory", InputSchema: updateSchema(declared),
			Description: "Replace a block of text about the user. The content replaces the whole block, so repeat all text that is still true. " +
				"To change a block, send the `updated_at` that you last read. If the block has changed since you read it, the error contains the current block. Write one fact per line, such as \"- Prefers tea\".",
			Annotations: &mcp.ToolAnnotations{DestructiveHint: &replaces, OpenWorldHint: &outside},
		}, func(sess *session) mcp.ToolHandler { return sess.updateBlock }},
		{&mcp.Tool{
			Name: recallMemory, Title: "Recall memory", InputSchema: recallSchema,
			Description: "Search what is remembered about the user, and return the lines that match best.",
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: &outside},
		}, func(sess *session) mcp.ToolHandler { return sess.recall }},
	}
	for _, o := range offered {
		if slices.Contains(taken, o.tool.Name) {
			s.log.Warn("a tool for blocks is hidden from MCP clients, because the app has a tool or an agent with the same name", "tool", o.tool.Name)
			continue
		}
		s.memory = append(s.memory, o)
	}
}

// recallSchema is the schema of the input of recall_memory.
var recallSchema = json.RawMessage(`{"type":"object","properties":{` +
	`"query":{"type":"string","description":"Words to search for"},` +
	`"limit":{"type":"integer","minimum":1,"maximum":100,"description":"Maximum number of lines. Default: 10"},` +
	`"min_score":{"type":["number","null"],"minimum":0,"maximum":1,"description":"Minimum score of the lines"}},` +
	`"required":["query"],"additionalProperties":false}`)

// updateSchema returns the schema of the input of update_memory.
func updateSchema(declared []declare.Block) json.RawMessage {
	names, described := []string{}, ""
	for _, b := range declared {
		names = append(names, b.Name)
		described += " " + b.Name + ": " + describeBlock(b)
	}
	enum, err := json.Marshal(names)
	if err != nil {
		return nil
	}
	about, err := json.Marshal("The block." + described)
	if err != nil {
		return nil
	}
	return fmt.Appendf(nil, `{"type":"object","properties":{`+
		`"block":{"type":"string","enum":%s,"description":%s},`+
		`"content":{"type":"string","description":"The whole new text of the block"},`+
		`"expected_updated_at":{"type":["string","null"],"description":"The updated_at of the block that was last read. Null or missing if the block does not exist"},`+
		`"scope":{"type":"string","enum":["user","agent"],"description":"agent: only for the current agent. Default: user"}},`+
		`"required":["block","content"],"additionalProperties":false}`, enum, about)
}

// describeBlock returns a description of a block and of the limits of the block.
func describeBlock(b declare.Block) string {
	limits := fmt.Sprintf("at most %d characters", b.Characters)
	if b.Entries > 0 {
		limits += fmt.Sprintf(" and %d lines", b.Entries)
	}
	if b.Description == "" {
		return limits + "."
	}
	return strings.TrimSuffix(b.Description, ".") + "; " + limits + "."
}

// addMemory adds the tools for blocks and collections, and adds each block as a resource. If the
// client does not act for a user, addMemory does nothing.
func (s *session) addMemory() {
	if s.owner.User == "" {
		return
	}
	for _, o := range s.api.memory {
		_ = offer(s.server, o.tool, o.call(s)) // New has checked these arguments
	}
	for _, b := range s.api.host.Blocks().Declared() {
		s.addBlock(b, false)
		if s.owner.Agent != "" {
			s.addBlock(b, true)
		}
	}
}

// addBlock adds a block as a resource.
func (s *session) addBlock(b declare.Block, agent bool) {
	scope := "user"
	if agent {
		scope = "agent"
	}
	uri := "toolrun://" + s.api.host.App().ID + "/memory/blocks/" + scope + "/" + b.Name
	s.server.AddResource(
		&mcp.Resource{URI: uri, Name: scope + "/" + b.Name, Title: b.Name, Description: describeBlock(b), MIMEType: "application/json"},
		func(ctx context.Context, _ *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			ctx, cancel := s.until(ctx)
			defer cancel()
			found, err := s.api.host.Blocks().Get(ctx, s.current(), b.Name, agent)
			if err != nil {
				return nil, protocolError(err)
			}
			text, err := json.Marshal(found) // null if the block does not exist
			if err != nil {
				return nil, protocolError(err)
			}
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: "application/json", Text: string(text)}}}, nil
		})
}

// blockUpdate is the input of update_memory.
type blockUpdate struct {
	Block    *string `json:"block"`
	Content  *string `json:"content"`
	Expected *string `json:"expected_updated_at"`
	Scope    *string `json:"scope"`
}

// request returns the update of a block that the input describes. request returns a fault if the
// input does not match the schema of the tool.
func (in blockUpdate) request() (u host.BlockUpdate, err error) {
	switch {
	case in.Block == nil:
		return u, abi.Faultf(abi.InputInvalid, "the block is missing")
	case in.Content == nil:
		return u, abi.Faultf(abi.InputInvalid, "the content is missing").WithHint("send the whole new text of the block")
	}
	u.Name, u.Content = *in.Block, *in.Content
	if in.Scope != nil {
		switch block.Scope(*in.Scope) {
		case block.ScopeUser:
		case block.ScopeAgent:
			u.Agent = true
		default:
			return u, abi.Faultf(abi.InputInvalid, "the scope of a block is unknown").WithHint("use the scope \"user\" or \"agent\"")
		}
	}
	if in.Expected == nil {
		return u, nil
	}
	at, ok := block.ParseTime(*in.Expected)
	if !ok || at.IsZero() {
		return u, abi.Faultf(abi.InputInvalid, "`expected_updated_at` is not a time").WithHint("send the `updated_at` that you last read")
	}
	u.Expected.Updated = at
	return u, nil
}

// updateBlock performs a call of update_memory.
func (s *session) updateBlock(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var in blockUpdate
	if err := decodeArguments(req.Params.Arguments, &in, "block", "content", "expected_updated_at", "scope"); err != nil {
		return refusedCall(abi.FaultOf(err)), nil
	}
	update, err := in.request()
	if err != nil {
		return refusedCall(abi.FaultOf(err)), nil
	}
	if _, err := s.api.host.Blocks().Find(update.Name); err != nil {
		return refusedCall(abi.FaultOf(err)), nil
	}
	ctx, cancel := s.until(ctx)
	defer cancel()
	stored, err := s.api.host.Blocks().Update(ctx, s.current(), update)
	if err == nil {
		return structured(stored), nil
	}
	refused := refusedCall(faultOf(err))
	if !errors.Is(err, abi.Conflict) {
		return refused, nil
	}
	// The client's model can merge the new text with the current text of the block, and then try
	// again.
	if current, err := s.api.host.Blocks().Get(ctx, s.current(), update.Name, update.Agent); err == nil && current != nil {
		refused.Content = append(refused.Content, structured(current).Content...)
	}
	return refused, nil
}

// recall performs a call of recall_memory.
func (s *session) recall(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var in struct {
		Query    string  `json:"query"`
		Limit    *int    `json:"limit"`
		MinScore float64 `json:"min_score"`
	}
	if err := decodeArguments(req.Params.Arguments, &in, "query", "limit", "min_score"); err != nil {
		return refusedCall(abi.FaultOf(err)), nil
	}
	query := host.RecallQuery{Query: in.Query, MinScore: in.MinScore}
	if in.Limit != nil {
		if query.Limit = *in.Limit; query.Limit < 1 {
			return refusedCall(abi.Faultf(abi.InputInvalid, "the limit must be from 1 to %d", block.MaxLimit)), nil
		}
	}
	ctx, cancel := s.until(ctx)
	defer cancel()
	caller := s.current()
	query.Agent = caller.Agent != ""
	found, err := s.api.host.Blocks().Recall(ctx, caller, query)
	if err != nil {
		return refusedCall(faultOf(err)), nil
	}
	return structured(map[string]any{"results": found}), nil
}

// decodeArguments decodes the arguments of a tool for blocks or collections. The arguments must be
// an object whose members have exactly the given names.
func decodeArguments(arguments json.RawMessage, v any, names ...string) error {
	known := strictjson.Check(arguments, strictjson.Limits{}) == nil && strictjson.IsObject(arguments)
	if known {
		strictjson.Members(arguments, func(name, _ []byte) bool {
			known = slices.Contains(names, string(name))
			return known
		})
	}
	if !known || json.Unmarshal(arguments, v) != nil {
		return abi.Faultf(abi.InputInvalid, "the input does not match the schema of the tool").
			WithHint("send an object that contains only these members: %s", strings.Join(names, ", "))
	}
	return nil
}

// structured returns the result of a call. The result contains the given value twice: as text and
// as structured content.
func structured(value any) *mcp.CallToolResult {
	text, err := json.Marshal(value)
	if err != nil {
		return refusedCall(faultOf(err))
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(text)}}, StructuredContent: json.RawMessage(text)}
}
