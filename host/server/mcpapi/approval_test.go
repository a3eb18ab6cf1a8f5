package mcpapi_test

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
)

// gatedShop is an app with tools whose effects need an approval. An approver approves some of the
// effects, and the user approves the other effects.
var gatedShop = fstest.MapFS{
	"app.yaml": {Data: []byte(`app: shop
memory:
  orders: {access: user}
tools:
  order: {source: order.js, description: d, grants: {orders: readwrite}, approval: {before: [set_content]}}
  own: {source: order.js, description: d, grants: {orders: readwrite}, approval: {before: [set_content], by: user}}
`)},
	"order.js": {Data: []byte(`await memory.set_content("orders", {item: input.item}); return {item: input.item};`)},
}

// openFiles opens gatedShop.
func openFiles(t *testing.T) *host.Host {
	t.Helper()
	a, problems := app.Load(gatedShop, "app.yaml")
	if a == nil {
		t.Fatal(problems)
	}
	return open(t, a)
}

func TestElicitApproval(t *testing.T) {
	for _, test := range []struct{ tool, action, want string }{
		{"own", "accept", `{"item":"tea"}`},
		{"own", "decline", "access_denied: the effect set_content was denied: the user declined"},
		{"own", "cancel", "The run is paused"},
		{"own", "", "The run is paused"},
		{"order", "accept", "The run is paused"},
	} {
		t.Run(test.tool+" "+test.action, func(t *testing.T) {
			requests := 0
			opts := &mcp.ClientOptions{ElicitationHandler: func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				if requests++; !strings.Contains(req.Params.Message, `"item":"tea"`) {
					t.Errorf("the message is %q; want the arguments", req.Params.Message)
				}
				return &mcp.ElicitResult{Action: test.action}, nil
			}}
			if test.action == "" {
				opts = nil // a client without elicitation
			}
			c, _ := connectAt(t, handshake, serve(t, openFiles(t)), host.Caller{User: "ann"}, opts)
			result := call(t, c, test.tool, map[string]any{"item": "tea"})
			if got := text(t, result); !strings.HasPrefix(got, test.want) || result.IsError != strings.HasPrefix(test.want, "access_denied") {
				t.Errorf("the result is %q, error %t; want %q", got, result.IsError, test.want)
			}
			if want := test.tool == "own" && test.action != ""; requests > 0 != want {
				t.Errorf("the user got %d requests", requests)
			}
		})
	}
}

// A tool must not be able to hide or reorder parts of the arguments that the user approves.
func TestElicitedArgumentsAreVisible(t *testing.T) {
	var message string
	opts := &mcp.ClientOptions{ElicitationHandler: func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		message = req.Params.Message
		return &mcp.ElicitResult{Action: "decline"}, nil
	}}
	c, _ := connectAt(t, handshake, serve(t, openFiles(t)), host.Caller{User: "ann"}, opts)
	call(t, c, "own", map[string]any{"item": "\u202eaet\u2028\u200b \U000e0041ü"})
	if want := `"item":"\u202eaet\u2028\u200b \udb40\udc41ü"`; !strings.Contains(message, want) {
		t.Errorf("the message is %q; want %s in it", message, want)
	}
}
