package mcpapi_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/report"
)

// sessionsOf returns the open sessions of a user.
func sessionsOf(t *testing.T, h *host.Host, user string) []string {
	t.Helper()
	sessions, _, err := h.Sessions().List(t.Context(), host.Caller{User: user}, "", 10)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, s := range sessions {
		ids = append(ids, s.ID)
	}
	return ids
}

func TestMemorySessionEndsWithTheClient(t *testing.T) {
	h := openShop(t)
	c, leave := connect(t, serve(t, h), host.Caller{User: "ann"}, nil)
	call(t, c, "order", map[string]any{"item": "tea"})
	open := sessionsOf(t, h, "ann")
	if len(open) != 1 {
		t.Fatalf("with one client the sessions %v are open; want one", open)
	}
	if got, _ := read(t, c, "basket"); got != `{"item":"tea"}` {
		t.Errorf("the basket contains %s; want the order", got)
	}
	leave()
	if open := sessionsOf(t, h, "ann"); len(open) != 0 {
		t.Errorf("without a client the sessions %v are open; want none", open)
	}
}

func TestNamedSessionOutlivesTheClient(t *testing.T) {
	h := openShop(t)
	caller := host.Caller{User: "ann", Session: "s1"}
	c, leave := connect(t, serve(t, h), caller, nil)
	call(t, c, "order", map[string]any{"item": "tea"})
	leave()
	if open := sessionsOf(t, h, "ann"); !cmp.Equal(open, []string{"s1"}) {
		t.Errorf("the open sessions are %v; want s1", open)
	}
	again, _ := connect(t, serve(t, h), caller, nil)
	if got, _ := read(t, again, "basket"); got != `{"item":"tea"}` {
		t.Errorf("in the same session the basket contains %s; want the order", got)
	}
}

// A memory session can end before its client disconnects.
func TestEndedSessionIsFollowedByAnother(t *testing.T) {
	h := openShop(t)
	c, _ := connect(t, serve(t, h), host.Caller{User: "ann"}, nil)
	call(t, c, "order", map[string]any{"item": "tea"})
	first := sessionsOf(t, h, "ann")[0]
	if _, err := h.Sessions().End(t.Context(), host.Caller{User: "ann", Session: first}); err != nil {
		t.Fatal(err)
	}
	if got, _ := read(t, c, "basket"); got != "null" {
		t.Errorf("after the end of its session the basket contains %s; want nothing", got)
	}
	if result := call(t, c, "order", map[string]any{"item": "tea"}); result.IsError {
		t.Errorf("a call after the session has ended fails: %s", text(t, result))
	}
	if open := sessionsOf(t, h, "ann"); len(open) != 1 || open[0] == first {
		t.Errorf("the open sessions are %v; want a new one instead of %s", open, first)
	}
}

// read reads a store of the shop as an MCP resource.
func read(t *testing.T, c *mcp.ClientSession, store string) (string, error) {
	t.Helper()
	got, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "toolrun://shop/memory/" + store})
	if err != nil {
		return "", err
	}
	if len(got.Contents) != 1 || got.Contents[0].MIMEType != "application/json" {
		t.Fatalf("the resource %s is %+v; want one content of JSON", store, got.Contents)
	}
	return got.Contents[0].Text, nil
}

func resources(t *testing.T, c *mcp.ClientSession) (names []string) {
	t.Helper()
	list, err := c.ListResources(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range list.Resources {
		names = append(names, strings.TrimPrefix(r.URI, "toolrun://shop/memory/"))
	}
	return names
}

func TestResources(t *testing.T) {
	s := serve(t, openShop(t))
	ann, _ := connect(t, s, host.Caller{User: "ann"}, nil)
	ben, _ := connect(t, s, host.Caller{User: "ben"}, nil)
	nobody, _ := connect(t, s, host.Caller{}, nil)
	call(t, ann, "order", map[string]any{"item": "tea"})
	tests := []struct {
		name  string
		who   *mcp.ClientSession
		store string
		want  string
	}{
		{"ann's orders", ann, "orders", `{"item":"tea"}`},
		{"ann's basket", ann, "basket", `{"item":"tea"}`},
		{"the prices, for ann", ann, "prices", `{"tea":1}`},
		{"the prices, for ben", ben, "prices", `{"tea":1}`},
		{"ben's orders", ben, "orders", `null`},
		{"ben's basket", ben, "basket", `null`},
		{"the basket without a user", nobody, "basket", `null`},
	}
	for _, test := range tests {
		if got, err := read(t, test.who, test.store); got != test.want || err != nil {
			t.Errorf("%s: %s, %v; want %s", test.name, got, err, test.want)
		}
	}
	if got, err := read(t, ann, declare.SessionMeta); err != nil || !strings.HasPrefix(got, "{") {
		t.Errorf("%s = %s, %v; want an object", declare.SessionMeta, got, err)
	}
	if got, want := resources(t, ann), []string{"basket", "orders", "prices", "sessionMeta"}; !cmp.Equal(got, want) {
		t.Errorf("the resources of ann are %q; want %q", got, want)
	}
	if got, want := resources(t, nobody), []string{"basket", "prices", "sessionMeta"}; !cmp.Equal(got, want) {
		t.Errorf("without a user the resources are %q; want %q", got, want)
	}
	for _, hidden := range []struct {
		who   *mcp.ClientSession
		store string
	}{{ann, "secrets"}, {ann, "nothing"}, {nobody, "orders"}} {
		_, err := read(t, hidden.who, hidden.store)
		if failed, ok := errors.AsType[*jsonrpc.Error](err); !ok || failed.Code != jsonrpc.CodeInvalidParams {
			t.Errorf("read %s = %v; want an unknown resource", hidden.store, err)
		}
	}
}

// The id of a user's session does not authenticate a request.
func TestSessionOfAnotherUser(t *testing.T) {
	h := openShop(t)
	s := serve(t, h)
	ann, _ := connect(t, s, host.Caller{User: "ann", Session: "s1"}, nil)
	call(t, ann, "order", map[string]any{"item": "tea"})
	for _, user := range []string{"", "ben"} {
		c, _ := connect(t, s, host.Caller{User: user, Session: "s1"}, nil)
		for _, store := range []string{"basket", "orders", declare.SessionMeta} {
			if got, err := read(t, c, store); err == nil {
				t.Errorf("the user %q reads %s = %s in the session of ann; want an error", user, store, got)
			}
		}
		if result := call(t, c, "order", map[string]any{"item": "x"}); !result.IsError || !strings.HasPrefix(text(t, result), "access_denied: ") {
			t.Errorf("the user %q calls in the session of ann: %s; want access_denied", user, text(t, result))
		}
	}
}

func TestPrompts(t *testing.T) {
	s := serve(t, openShop(t))
	ann, _ := connect(t, s, host.Caller{User: "ann"}, nil)
	nobody, _ := connect(t, s, host.Caller{}, nil)
	call(t, ann, "order", map[string]any{"item": "tea"})
	list, err := ann.ListPrompts(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Prompts) != 1 || list.Prompts[0].Name != "recap" || list.Prompts[0].Description != "What was ordered" || len(list.Prompts[0].Arguments) != 0 {
		t.Errorf("the prompts are %+v; want only recap, without arguments", list.Prompts)
	}
	got, err := ann.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "recap"})
	if err != nil {
		t.Fatal(err)
	}
	want := []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "Ordered: tea"}}}
	if diff := cmp.Diff(want, got.Messages); diff != "" {
		t.Errorf("the prompt (-want +got):\n%s", diff)
	}
	_, err = nobody.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "recap"})
	if failed, ok := errors.AsType[*jsonrpc.Error](err); !ok || !strings.HasPrefix(failed.Message, "no_user: ") || !strings.Contains(string(failed.Data), `"code":"no_user"`) {
		t.Errorf("a prompt with user memory, without a user = %v; want no_user", err)
	}
}

// Piped requests are answered before the server ends, and nothing else is written.
func TestRequestsFromAFile(t *testing.T) {
	in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"count"}}
`)
	var out strings.Builder
	if err := serve(t, openShop(t)).ServeStdio(t.Context(), host.Caller{}, in, &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[1], `"content":[{"type":"text","text":"[1,2]"}]`) {
		t.Errorf("the responses are %q; want two, the second with the output", lines)
	}
}

// A canceled server ends even if stdin remains open and a run is in progress.
func TestInterruptedServer(t *testing.T) {
	runs := &results{ended: make(chan *report.Result, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	in, client := io.Pipe()
	defer client.Close()
	served := make(chan error, 1)
	s := serve(t, openShop(t, runs))
	log := writer(func(p []byte) {
		if strings.Contains(string(p), "begun") {
			cancel()
		}
	})
	go func() { served <- s.ServeStdio(ctx, host.Caller{}, in, log) }()
	_, err := io.WriteString(client, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"debug"}}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"endless"}}
`)
	if err != nil {
		t.Fatal(err)
	}
	if err := <-served; err != nil {
		t.Errorf("ServeStdio = %v; want nil after a cancellation", err)
	}
	if result := <-runs.ended; !errors.Is(result.Error, abi.Cancelled) {
		t.Errorf("the run ended with %v; want cancelled", result.Error)
	}
}

// writer is a function that implements io.Writer.
type writer func(p []byte)

func (w writer) Write(p []byte) (int, error) {
	w(p)
	return len(p), nil
}
