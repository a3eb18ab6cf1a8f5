package service

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/engines"
	"github.com/toolrun/toolrun/host/server/auth"
	"github.com/toolrun/toolrun/host/server/telemetry"
	"github.com/toolrun/toolrun/host/server/tenants"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// users is a service in which each caller's token is the user's name. Revoked users are rejected.
// The channel "called" receives a value for each memory call, unless its buffer is full.
func users(t *testing.T, revoked *atomic.Pointer[string], called chan struct{}) *httptest.Server {
	t.Helper()
	declared, problems := app.Load(fstest.MapFS{
		"app.yaml": {Data: []byte("app: shop\nmemory: {cart: {access: session}}\ntools: {look: {source: look.js, grants: {cart: readwrite}}, wait: {source: wait.js, grants: {cart: read}}}\n")},
		"look.js":  {Data: []byte(`const c = await memory.get_content("cart"); await memory.set_content("cart", {by: context.userId}); return {before: c}`)},
		"wait.js":  {Data: []byte(`await memory.get_content("cart"); for (;;) {}`)},
	}, "app.yaml")
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	watch, err := telemetry.New(telemetry.Options{})
	if err != nil {
		t.Fatal(err)
	}
	served := tenants.New(tenants.Options{Observers: func(string) []host.Observer { return []host.Observer{calls{called: called}} }, Host: host.Options{Backend: mem.New(), Engines: engines.InProcess(), SweepEvery: -1, Limits: host.Limits{Timeout: 150 * time.Second}}})
	if err := served.Serve(t.Context(), []*app.App{declared}); err != nil {
		t.Fatal(err)
	}
	s, err := New(Options{
		Apps: served, Telemetry: watch, Recheck: 10 * time.Millisecond,
		Authenticate: func(r *http.Request) (auth.Principal, error) {
			user := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
			if gone := revoked.Load(); gone != nil && *gone == user {
				return auth.Principal{}, auth.Invalid
			}
			if user == "backend" {
				return auth.Principal{Role: auth.Runtime, Tenant: "acme", Name: user}, nil
			}
			return auth.Principal{Role: auth.User, Tenant: "acme", User: user, Name: user}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s)
	t.Cleanup(func() {
		server.CloseClientConnections()
		s.Stop(context.Background())
		server.Close()
		if err := errors.Join(served.Close(), watch.Shutdown(context.Background())); err != nil {
			t.Error(err)
		}
	})
	return server
}

// calls is an observer that reports memory calls.
type calls struct {
	host.NopObserver
	called chan struct{}
}

func (c calls) MemoryCalled(context.Context, host.RunInfo, host.CallEvent) {
	select {
	case c.called <- struct{}{}:
	default:
	}
}

// bearer adds credentials to each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// as connects a client with credentials.
func as(t *testing.T, server *httptest.Server, who, query string) (*mcp.ClientSession, error) {
	t.Helper()
	transport := &mcp.StreamableClientTransport{
		Endpoint: server.URL + "/mcp" + query, HTTPClient: &http.Client{Transport: bearer(who)}, MaxRetries: -1,
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	if err == nil {
		t.Cleanup(func() { _ = client.Close() })
	}
	return client, err
}

// A user's MCP client cannot take over another user's session. A client also cannot choose the id
// of a new session.
func TestMCPUsersBindNoSession(t *testing.T) {
	server := users(t, &atomic.Pointer[string]{}, nil)
	backend, err := as(t, server, "backend", "?session_id=visitor")
	if err != nil {
		t.Fatal(err)
	}
	if r, err := backend.CallTool(t.Context(), &mcp.CallToolParams{Name: "look"}); err != nil || r.IsError {
		t.Fatalf("the visitor's call = %+v, %v", r, err)
	}
	for _, id := range []string{"visitor", "none"} {
		bob, err := as(t, server, "bob", "?session_id="+id)
		if err != nil {
			continue // an immediate rejection is also correct
		}
		if r, err := bob.CallTool(t.Context(), &mcp.CallToolParams{Name: "look"}); err == nil && !r.IsError {
			t.Errorf("bob's call in the session %q = %+v; want an error", id, r)
		}
		uri := "toolrun://shop/memory/sessionMeta"
		if r, err := bob.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}); err == nil {
			t.Errorf("bob's read of the session %q = %+v; want an error", id, r)
		}
	}
	own, err := as(t, server, "bob", "")
	if err != nil {
		t.Fatal(err)
	}
	if r, err := own.CallTool(t.Context(), &mcp.CallToolParams{Name: "look"}); err != nil || r.IsError {
		t.Errorf("bob's call in a session of the host = %+v, %v; want a result", r, err)
	}
	if r, err := backend.CallTool(t.Context(), &mcp.CallToolParams{Name: "look"}); err != nil || r.IsError {
		t.Errorf("the visitor's next call = %+v, %v; want a result", r, err)
	}
}

// An MCP stream and a running call end soon after their credentials become invalid.
func TestMCPEndsWithItsCredentials(t *testing.T) {
	var revoked atomic.Pointer[string]
	called := make(chan struct{}, 1)
	server := users(t, &revoked, called)
	bob, err := as(t, server, "bob", "")
	if err != nil {
		t.Fatal(err)
	}
	other, err := as(t, server, "bob", "")
	if err != nil {
		t.Fatal(err)
	}
	calling := make(chan struct{})
	go func() {
		defer close(calling)
		_, _ = other.CallTool(t.Context(), &mcp.CallToolParams{Name: "wait"})
	}()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = bob.Wait() // the stream of the session is open from the start
	}()
	<-called
	name := "bob"
	revoked.Store(&name)
	for what, done := range map[string]chan struct{}{"the call under way": calling, "the stream": ended} {
		select {
		case <-done:
		case <-time.After(60 * time.Second): // the call takes longer than the stream
			t.Fatalf("%s has not ended", what)
		}
	}
}
