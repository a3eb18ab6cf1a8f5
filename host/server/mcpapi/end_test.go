package mcpapi_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/report"
)

// paused returns a shop that pauses at the first memory operation of a run. Before the pause, the
// run closes the channel "begun". The run continues when the channel "resume" is closed.
func paused(t *testing.T) (h *host.Host, runs *results, begun, resume chan struct{}) {
	t.Helper()
	begun, resume = make(chan struct{}), make(chan struct{})
	runs = &results{ended: make(chan *report.Result, 9), left: make(chan host.Caller, 9)}
	waited := false
	runs.called = func(host.RunInfo) {
		if !waited {
			waited = true
			close(begun)
			<-resume
		}
	}
	return openShop(t, runs), runs, begun, resume
}

// Shutdown completes calls in progress, immediately ends idle sessions, and rejects new requests.
func TestShutdown(t *testing.T) {
	h, runs, begun, resume := paused(t)
	s := serve(t, h)
	url := listen(t, s)
	ann := dial(t, url, "ann", nil)
	ben, _ := begin(t, url, "ben", "")
	stream := get(t, url, "ben", ben)
	defer stream.Close()
	answered := make(chan *mcp.CallToolResult)
	go func() {
		result, err := ann.CallTool(t.Context(), &mcp.CallToolParams{Name: "order", Arguments: map[string]any{"item": "tea"}})
		if err != nil {
			t.Errorf("the call in progress = %v; want a result", err)
		}
		answered <- result
	}()
	<-begun
	ended := make(chan error)
	go func() { ended <- s.Shutdown(t.Context()) }()
	if left := <-runs.left; left.User != "ben" {
		t.Errorf("the session of %+v was ended; want ben's, which is idle", left)
	}
	if text, err := io.ReadAll(stream); err != nil {
		t.Errorf("the stream of ben ends with %q, %v; want its end", text, err)
	}
	if _, answer := ask(t, http.MethodPost, url, "ann", ann.ID(), listTools); !strings.Contains(answer, `"message":"unavailable: `) {
		t.Errorf("a later request gets %q; want unavailable", answer)
	}
	if _, answer := begin(t, url, "cat", ""); !strings.Contains(answer, `"message":"unavailable: `) {
		t.Errorf("a new session gets %q; want unavailable", answer)
	}
	close(resume)
	if result := <-answered; result == nil || result.IsError {
		t.Errorf("the call in progress gets %+v; want its output", result)
	}
	if err := <-ended; err != nil {
		t.Errorf("Shutdown = %v; want nil", err)
	}
	if open := sessionsOf(t, h, "ann"); len(open) != 0 {
		t.Errorf("after Shutdown the sessions %v are open; want none", open)
	}
}

// get opens the event stream of a session.
func get(t *testing.T, url, user, session string) io.ReadCloser {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("Mcp-Session-Id", session)
	resp, err := as(user).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("the stream has the status %s; want 200", resp.Status)
	}
	return resp.Body
}

// Shutdown cancels calls that do not end in time.
func TestShutdownCancels(t *testing.T) {
	runs := &results{ended: make(chan *report.Result, 1)}
	s := serve(t, openShop(t, runs))
	begun, called := make(chan struct{}), make(chan struct{})
	ann := dial(t, listen(t, s), "ann", onLog(func() { close(begun) }))
	setLevel(t, ann, "debug")
	go func() {
		defer close(called)
		_, _ = ann.CallTool(t.Context(), &mcp.CallToolParams{Name: "endless"})
	}()
	<-begun
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Shutdown(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Shutdown = %v; want canceled", err)
	}
	if result := <-runs.ended; !errors.Is(result.Error, abi.Cancelled) {
		t.Errorf("the run ended with %v; want cancelled", result.Error)
	}
	<-called
}

// Over stdio, the last response is written before the server ends.
func TestShutdownOverStdio(t *testing.T) {
	h, _, begun, resume := paused(t)
	s := serve(t, h)
	ann, _ := connect(t, s, host.Caller{User: "ann"}, nil)
	answered := make(chan error)
	go func() {
		_, err := ann.CallTool(t.Context(), &mcp.CallToolParams{Name: "order", Arguments: map[string]any{"item": "tea"}})
		answered <- err
	}()
	<-begun
	ended := make(chan error)
	go func() { ended <- s.Shutdown(t.Context()) }()
	for { // until the server rejects new requests
		if _, err := ann.ListTools(t.Context(), nil); err != nil {
			break
		}
	}
	close(resume)
	if err := <-answered; err != nil {
		t.Errorf("the call in progress = %v; want a result", err)
	}
	if err := <-ended; err != nil {
		t.Errorf("Shutdown = %v; want nil", err)
	}
}

// The limit on a user's MCP sessions does not depend on the number of memory sessions that the user
// has.
func TestNamedSessionsOfAUserAreBounded(t *testing.T) {
	url := listen(t, serve(t, openShop(t)))
	var ids []string
	for i := range 101 {
		id, _ := begin(t, url, "ann", fmt.Sprintf("s%d", i))
		ids = append(ids, id)
	}
	open := 0
	for i, id := range ids {
		if status := askNamed(t, url, "ann", fmt.Sprintf("s%d", i), id); status == http.StatusOK {
			open++
		}
	}
	if open > 100 {
		t.Errorf("ann has %d sessions open; want 100 at most", open)
	}
}

func askNamed(t *testing.T, url, user, memory, session string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(listTools))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Mcp-Session-Id", session)
	req.Header.Set("Session", memory)
	resp, err := as(user).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode
}

// An MCP session ends after an hour without requests, even if the app allows a longer idle time.
func TestIdleSessionEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := openShop(t)
		s := serve(t, h)
		handler := s.Handler(func(*http.Request) (host.Caller, error) { return host.Caller{User: "ann"}, nil })
		post := func(session, body string) *httptest.ResponseRecorder {
			req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp", strings.NewReader(body))
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Accept", "application/json, text/event-stream")
			if session != "" {
				req.Header.Set("Mcp-Session-Id", session)
			}
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, req)
			return w
		}
		session := post("", initialize).Header().Get("Mcp-Session-Id")
		time.Sleep(59 * time.Minute)
		if w := post(session, listTools); w.Code != http.StatusOK {
			t.Errorf("after 59 minutes the session returns %d; want 200", w.Code)
		}
		time.Sleep(61 * time.Minute)
		if w := post(session, listTools); w.Code != http.StatusNotFound {
			t.Errorf("after 61 minutes more the session returns %d; want 404", w.Code)
		}
	})
}
