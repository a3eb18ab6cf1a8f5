package mcpapi_test

import (
	"context"
	"fmt"
	"io"
	"testing/fstest"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/engines"
	"github.com/toolrun/toolrun/host/server/mcpapi"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// The server communicates over a pair of streams and acts for ann.
func Example() {
	ctx := context.Background()
	files := fstest.MapFS{
		"app.yaml": {Data: []byte("{app: tea, tools: {greet: {source: greet.js, description: Greet}}}")},
		"greet.js": {Data: []byte("return {text: `Hello, ${input.name}!`}")},
	}
	tea, problems := app.Load(files, "app.yaml")
	if err := problems.Err(); err != nil {
		fmt.Println(err)
		return
	}
	h, err := host.Open(ctx, host.Options{App: tea, Backend: mem.New(), Engines: engines.InProcess()})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer h.Close()
	server := mcpapi.New(mcpapi.Options{Host: h, Version: "1.0"})
	defer server.Close()
	in, fromClient := io.Pipe()
	toClient, out := io.Pipe()
	go server.ServeStdio(ctx, host.Caller{User: "ann"}, in, out)

	client := mcp.NewClient(&mcp.Implementation{Name: "example", Version: "1.0"}, nil)
	session, err := client.Connect(ctx, &mcp.IOTransport{Reader: toClient, Writer: fromClient}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer session.Close()
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "greet", Arguments: map[string]any{"name": "Ann"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.StructuredContent)
	// Output: map[text:Hello, Ann!]
}
