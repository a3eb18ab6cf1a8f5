//lint:file-ignore SA1019 MCP removes logging after version 2026-07-28; until then, nothing replaces it

package mcpapi_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/report"
)

// heard collects the notifications that a client receives, in the order of arrival.
type heard struct{ lines, progress chan string }

func newHeard() heard { return heard{make(chan string, 100), make(chan string, 100)} }

func (h heard) options() *mcp.ClientOptions {
	return &mcp.ClientOptions{
		LoggingMessageHandler: func(_ context.Context, req *mcp.LoggingMessageRequest) {
			line, _ := req.Params.Data.(string)
			h.lines <- req.Params.Logger + " " + string(req.Params.Level) + " " + line
		},
		ProgressNotificationHandler: func(_ context.Context, req *mcp.ProgressNotificationClientRequest) {
			h.progress <- req.Params.Message
		},
	}
}

// onLog returns client options with a handler for log lines.
func onLog(do func()) *mcp.ClientOptions {
	return &mcp.ClientOptions{LoggingMessageHandler: func(context.Context, *mcp.LoggingMessageRequest) { do() }}
}

// The function "next" returns the next n texts from a channel.
func next(t *testing.T, from chan string, n int) (texts []string) {
	t.Helper()
	for range n {
		select {
		case text := <-from:
			texts = append(texts, text)
		case <-time.After(30 * time.Second):
			t.Fatalf("no notification after %q; want %d", texts, n)
		}
	}
	return texts
}

func setLevel(t *testing.T, c *mcp.ClientSession, level mcp.LoggingLevel) {
	t.Helper()
	if err := c.SetLoggingLevel(t.Context(), &mcp.SetLoggingLevelParams{Level: level}); err != nil {
		t.Fatal(err)
	}
}

func TestLogs(t *testing.T) {
	ears := newHeard()
	c, _ := connectAt(t, handshake, serve(t, openShop(t)), host.Caller{}, ears.options())
	tests := []struct {
		level mcp.LoggingLevel
		want  []string
	}{
		{"", nil}, // a client that sets no level receives no log lines
		{"debug", []string{"chatter debug d", "chatter info i", "chatter warning w", "chatter error e"}},
		{"warning", []string{"chatter warning w", "chatter error e"}},
	}
	for _, test := range tests {
		if test.level != "" {
			setLevel(t, c, test.level)
		}
		call(t, c, "chatter", nil)
		if lines := next(t, ears.lines, len(test.want)); !cmp.Equal(lines, test.want) {
			t.Errorf("at level %q the client got %q; want %q", test.level, lines, test.want)
		}
	}
}

func TestLogsOfTheLatestProtocol(t *testing.T) {
	ears := newHeard()
	c, _ := connect(t, serve(t, openShop(t)), host.Caller{}, ears.options())
	call(t, c, "chatter", nil) // without a level
	params := &mcp.CallToolParams{Name: "chatter", Meta: mcp.Meta{mcp.MetaKeyLogLevel: "error"}}
	if _, err := c.CallTool(t.Context(), params); err != nil {
		t.Fatal(err)
	}
	if lines := next(t, ears.lines, 1); !cmp.Equal(lines, []string{"chatter error e"}) {
		t.Errorf("the client got %q; want the lines of the request with a level", lines)
	}
}

func TestProgress(t *testing.T) {
	ears := newHeard()
	runs := &results{ended: make(chan *report.Result, 2)}
	h := openShop(t, runs)
	meddled := false
	runs.called = func(run host.RunInfo) {
		if meddled || run.Attempt != 1 {
			return
		}
		meddled = true
		args := []json.RawMessage{json.RawMessage(`"prices"`), json.RawMessage(`{"tea": 7}`)}
		if _, _, err := h.Stores().Do(t.Context(), host.Caller{}, memory.Operator(), abi.Call{Op: abi.SetContent, Args: args}); err != nil {
			t.Errorf("meddle: %v", err)
		}
	}
	c, _ := connect(t, serve(t, h), host.Caller{}, ears.options())
	call(t, c, "count", nil) // without a token
	params := &mcp.CallToolParams{Name: "retry"}
	params.SetProgressToken("p1")
	if _, err := c.CallTool(t.Context(), params); err != nil {
		t.Fatal(err)
	}
	want := []string{"the run begins", "retry after a conflict: starting attempt 2", "the run has ended"}
	if progress := next(t, ears.progress, len(want)); !cmp.Equal(progress, want) {
		t.Errorf("the client got the progress %q; want %q", progress, want)
	}
}
