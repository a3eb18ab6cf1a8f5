package mcpapi

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/app"
)

// describe is a tool as MCP lists it.
func describe(t app.Tool) *mcp.Tool {
	out := &mcp.Tool{
		Name: t.Name, Title: t.Title, Description: t.Description,
		InputSchema: objectSchema(t.InputSchema), Annotations: annotations(t),
	}
	if isObject(t.OutputSchema) { // MCP knows no others; an interface that holds a nil one would not be nil
		out.OutputSchema = t.OutputSchema
	}
	return out
}

// offer adds a tool to a server. The SDK panics where a schema is not to its liking, such as one with a bad
// x-mcp-header, and schemas are the words of whoever wrote the app.
func offer(to *mcp.Server, tool *mcp.Tool, run mcp.ToolHandler) (err error) {
	defer func() {
		if refused := recover(); refused != nil {
			err = fmt.Errorf("add tool %s: %v", tool.Name, refused)
		}
	}()
	to.AddTool(tool, run)
	return nil
}

// annotations says what a tool may do. What its grants tell is certain and comes before what its author says.
func annotations(t app.Tool) *mcp.ToolAnnotations {
	writes, deletes := false, false
	for _, g := range t.Grants {
		writes = writes || g.Allows(abi.Write)
		deletes = deletes || g.Allows(abi.Delete)
	}
	said := t.Annotations
	// A write replaces what was there, unless the author knows better. Who may delete is trusted less.
	destructive := deletes || writes && (said.DestructiveHint == nil || *said.DestructiveHint)
	outside := false // a tool reaches its memory and nothing else
	return &mcp.ToolAnnotations{
		Title: said.Title, ReadOnlyHint: !writes && !deletes, DestructiveHint: &destructive,
		IdempotentHint: said.IdempotentHint != nil && *said.IdempotentHint, OpenWorldHint: &outside,
	}
}

// isObject reports whether a schema says at its root that it is of objects.
func isObject(schema json.RawMessage) bool {
	var root struct{ Type any }
	return json.Unmarshal(schema, &root) == nil && root.Type == "object"
}

// objectSchema is a schema that says at its root that it is of objects, as every input is and MCP wants it said.
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

// object is a JSON text if that is an object, else nil.
func object(text json.RawMessage) any {
	if trimmed := bytes.TrimLeft(text, " \t\r\n"); len(trimmed) > 0 && trimmed[0] == '{' {
		return text
	}
	return nil
}
