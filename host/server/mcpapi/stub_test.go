package mcpapi_test

import (
	"context"
	"io"
	"os"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/engines"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/server/mcpapi"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// shop is an app of small tools. Each tool demonstrates one behavior that a client can observe.
var shop = fstest.MapFS{
	"app.yaml": {Data: []byte(`
app: shop
memory:
  orders: {name: Orders, description: What a user ordered, access: user, expose: resource}
  basket: {access: session, expose: resource}
  prices: {access: application, expose: resource}
  secrets: {access: user}
tools:
  order:
    source: order.js
    title: Order
    description: Order something
    inputSchema: {properties: {item: {type: string}}, required: [item]}
    outputSchema: {type: object, properties: {items: {type: array}}}
    annotations: {destructiveHint: false, idempotentHint: true, readOnlyHint: true}
    grants: {orders: [read, write], basket: [read, write], prices: [read, write], secrets: write}
  forget: {source: forget.js, annotations: {destructiveHint: false}, grants: {orders: delete}}
  count: {source: count.js, outputSchema: {type: array}, grants: {prices: read}}
  chatter: {source: chatter.js}
  endless: {source: endless.js}
  retry: {source: retry.js, grants: {prices: [read, write]}}
  broken: {source: nowhere.js}
  header: {source: count.js, inputSchema: {type: object, properties: {a: {type: object, x-mcp-header: " "}}}}
prompts:
  recap: {description: What was ordered, template: "Ordered: {{memory.orders.item}}", grants: {orders: read}}
  mistaken: {template: "Hello!", grants: {nowhere: read}}
`)},
	"order.js": {Data: []byte(`
await memory.set_content("orders", {item});
await memory.set_content("basket", {item});
await memory.set_content("prices", {[item]: 1});
await memory.set_content("secrets", {item});
return {items: [item]};`)},
	"forget.js":  {Data: []byte(`await memory.delete_content("orders"); return null;`)},
	"count.js":   {Data: []byte(`return [1, 2];`)},
	"chatter.js": {Data: []byte(`console.debug("d"); console.log("i"); console.warn("w"); console.error("e"); throw new Error("no");`)},
	"endless.js": {Data: []byte(`console.log("begun"); for (;;) {}`)},
	"retry.js": {Data: []byte(`
const before = await memory.get_content("prices");
console.log("looked");
await memory.set_content("prices", {tea: (before?.tea ?? 0) + 1});
return {};`)},
}

// results is an observer that receives all runs.
type results struct {
	host.NopObserver
	ended chan *report.Result
	left  chan host.Caller // callers whose session has ended
	// The field called contains a function that is called after each memory operation of a run, or
	// nil.
	called func(host.RunInfo)
}

func (r *results) RunEnded(_ context.Context, _ host.RunInfo, result *report.Result) {
	r.ended <- result
}

func (r *results) SessionEnded(_ context.Context, caller host.Caller) {
	if r.left != nil {
		r.left <- caller
	}
}

func (r *results) MemoryCalled(_ context.Context, run host.RunInfo, _ host.CallEvent) {
	if r.called != nil {
		r.called(run)
	}
}

// open opens a host for an app.
func open(t *testing.T, a *app.App, observers ...host.Observer) *host.Host {
	t.Helper()
	h, err := host.Open(t.Context(), host.Options{
		App: a, Backend: mem.New(), Engines: engines.InProcess(), Observers: observers, SweepEvery: -1,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

// openShop opens the shop. The only mistakes in the app are a tool and a prompt without sources.
func openShop(t *testing.T, observers ...host.Observer) *host.Host {
	t.Helper()
	a, _ := app.Load(shop, "app.yaml")
	if a == nil {
		t.Fatal("the shop cannot be loaded")
	}
	return open(t, a, observers...)
}

// openExamples opens the example tools.
func openExamples(t *testing.T) *host.Host {
	t.Helper()
	root, err := os.OpenRoot("../../../plugins/examples")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	a, problems := app.Load(root.FS(), "app.yaml")
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	return open(t, a)
}

// serve returns a server that is closed when the test ends.
func serve(t *testing.T, h *host.Host) *mcpapi.Server {
	t.Helper()
	s := mcpapi.New(mcpapi.Options{Host: h, Version: "test"})
	t.Cleanup(func() { s.Close() })
	return s
}

// connect connects a client over a pair of streams, as over stdio. The returned function closes the
// client and waits until the server has ended. The client uses the latest protocol version.
func connect(t *testing.T, s *mcpapi.Server, caller host.Caller, opts *mcp.ClientOptions) (*mcp.ClientSession, func()) {
	t.Helper()
	return connectAt(t, "", s, caller, opts)
}

// handshake is a protocol version in which a client sets the log level of the session after a
// handshake. In later versions, each request sets the log level.
const handshake = "2025-06-18"

func connectAt(t *testing.T, version string, s *mcpapi.Server, caller host.Caller, opts *mcp.ClientOptions) (*mcp.ClientSession, func()) {
	t.Helper()
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	served := make(chan error, 1)
	go func() {
		err := s.ServeStdio(t.Context(), caller, toServer, fromServer)
		fromServer.Close()
		served <- err
	}()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, opts)
	session, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: toClient, Writer: fromClient}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	leave := sync.OnceFunc(func() {
		session.Close()
		if err := <-served; err != nil {
			t.Errorf("ServeStdio = %v; want nil when the client disconnects", err)
		}
	})
	t.Cleanup(leave)
	return session, leave
}

// client connects a client without options.
func client(t *testing.T, h *host.Host, caller host.Caller) *mcp.ClientSession {
	t.Helper()
	session, _ := connect(t, serve(t, h), caller, nil)
	return session
}

// call calls a tool.
func call(t *testing.T, c *mcp.ClientSession, tool string, arguments any) *mcp.CallToolResult {
	t.Helper()
	result, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatalf("call %s: %v", tool, err)
	}
	return result
}

// text returns the only text of a result.
func text(t *testing.T, r *mcp.CallToolResult) string {
	t.Helper()
	if len(r.Content) != 1 {
		t.Fatalf("the result has %d contents; want 1", len(r.Content))
	}
	content, ok := r.Content[0].(*mcp.TextContent)
	if !ok {
		t.Fatalf("the content is a %T; want a text", r.Content[0])
	}
	return content.Text
}
