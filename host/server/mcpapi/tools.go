package mcpapi

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/app"
)

// describe returns a tool in the form in which MCP lists it.
func describe(t app.Tool) *mcp.Tool {
	out := &mcp.Tool{
		Name: t.Name, Title: t.Title, Description: t.Description,
		InputSchema: objectSchema(t.InputSchema), Annotations: annotations(t),
	}
	if isObject(t.OutputSchema) { // MCP allows only object schemas, and a nil schema in an interface is not nil
		out.OutputSchema = t.OutputSchema
	}
	return out
}

// offer adds a tool to a server. The SDK panics on some schemas, such as a schema with an invalid
// x-mcp-header. offer recovers from these panics. Schemas come from app authors, so a bad schema
// must not crash the server.
func offer(to *mcp.Server, tool *mcp.Tool, run mcp.ToolHandler) (err error) {
	defer func() {
		if refused := recover(); refused != nil {
			err = fmt.Errorf("add tool %s: %v", tool.Name, refused)
		}
	}()
	to.AddTool(tool, run)
	return nil
}

// annotations returns hints about the effects of a tool. If the tool's grants contradict the
// author's annotations, the hints follow the grants.
func annotations(t app.Tool) *mcp.ToolAnnotations {
	writes, deletes := false, false
	for _, g := range t.Grants {
		writes = writes || g.Allows(abi.Write)
		deletes = deletes || g.Allows(abi.Delete)
	}
	text := t.Annotations
	// Writing is destructive unless the author states otherwise. Deleting is always destructive.
	destructive := deletes || writes && (text.DestructiveHint == nil || *text.DestructiveHint)
	outside := false // a tool can access only its memory
	return &mcp.ToolAnnotations{
		Title: text.Title, ReadOnlyHint: !writes && !deletes, DestructiveHint: &destructive,
		IdempotentHint: text.IdempotentHint != nil && *text.IdempotentHint, OpenWorldHint: &outside,
	}
}

// isObject reports whether the root of a schema has the type object.
func isObject(schema json.RawMessage) bool {
	var root struct{ Type any }
	return json.Unmarshal(schema, &root) == nil && root.Type == "object"
}

// objectSchema returns a schema whose root has the type object, because MCP requires this type. The
// input of a tool is always an object.
func objectSchema(schema json.RawMessage) json.RawMessage {
	if isObject(schema) {
		return schema
	}
	root := map[string]json.RawMessage{}
	if json.Unmarshal(schema, &root) != nil || root == nil {
		root = map[string]json.RawMessage{}
	}
	root["type"] = json.RawMessage(`"object"`)
	out, err := json.Marshal(root)
	if err != nil {
		return json.RawMessage(`{"type":"object"}`)
	}
	return out
}

// object returns the JSON text if it is an object. Otherwise it returns nil.
func object(text json.RawMessage) any {
	if trimmed := bytes.TrimLeft(text, " \t\r\n"); len(trimmed) > 0 && trimmed[0] == '{' {
		return text
	}
	return nil
}
