//lint:file-ignore SA1019 MCP removes logging after version 2026-07-28; until then, nothing replaces it

package mcpapi

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolrun/toolrun/abi"
)

// maxWaiting is the maximum number of notifications of a run that wait for a slow client.
const maxWaiting = 1000

var levels = map[abi.Level]mcp.LoggingLevel{
	abi.LevelDebug: "debug", abi.LevelInfo: "info", abi.LevelWarn: "warning", abi.LevelError: "error",
}

// capabilities returns the capabilities of a server. The lists of tools, prompts and resources do
// not change during a session.
func capabilities() *mcp.ServerCapabilities {
	return &mcp.ServerCapabilities{
		Logging: &mcp.LoggingCapabilities{}, Tools: &mcp.ToolCapabilities{},
		Prompts: &mcp.PromptCapabilities{}, Resources: &mcp.ResourceCapabilities{},
	}
}

// notifier sends the log lines and the progress of a run to the client. A slow client must not
// delay the run, so a separate goroutine sends the notifications, and excess notifications are
// dropped. Only one goroutine may use a notifier at a time.
type notifier struct {
	session *mcp.ServerSession
	tool    string
	token   any     // nil if the client did not request progress
	steps   float64 // progress so far; it must increase
	attempt int
	waiting chan mcp.Params
	dropped int
	sent    chan struct{}
}

func newNotifier(ctx context.Context, req *mcp.CallToolRequest) *notifier {
	n := &notifier{
		session: req.Session, tool: req.Params.Name, token: req.Params.GetProgressToken(), attempt: 1,
		waiting: make(chan mcp.Params, maxWaiting), sent: make(chan struct{}),
	}
	go func() {
		defer close(n.sent)
		for params := range n.waiting {
			n.send(ctx, params)
		}
	}()
	return n
}

// send sends one notification. send ignores errors: if the client has disconnected, the response to
// the request will fail, too.
func (n *notifier) send(ctx context.Context, params mcp.Params) {
	switch params := params.(type) {
	case *mcp.LoggingMessageParams:
		_ = n.session.Log(ctx, params) // Log filters by the client's log level
	case *mcp.ProgressNotificationParams:
		_ = n.session.NotifyProgress(ctx, params)
	}
}

func (n *notifier) push(params mcp.Params) {
	select {
	case n.waiting <- params:
	default:
		n.dropped++
	}
}

// log sends a log line of the tool. The first line of a new attempt is preceded by a progress
// notification.
func (n *notifier) log(attempt int, line abi.LogLine) {
	if attempt != n.attempt {
		n.attempt = attempt
		n.progress(fmt.Sprintf("retry after a conflict: starting attempt %d", attempt))
	}
	n.push(&mcp.LoggingMessageParams{Level: levels[line.Level], Logger: n.tool, Data: line.Text})
}

func (n *notifier) progress(message string) {
	if n.token == nil {
		return
	}
	n.push(&mcp.ProgressNotificationParams{ProgressToken: n.token, Progress: n.steps, Message: message})
	n.steps++
}

// close returns after all notifications are sent. The response to the request is sent after close
// has returned.
func (n *notifier) close() {
	if n.dropped > 0 {
		n.waiting <- &mcp.LoggingMessageParams{
			Level: "warning", Logger: n.tool, Data: fmt.Sprintf("%d notifications were dropped: the client reads too slowly", n.dropped),
		}
	}
	close(n.waiting)
	<-n.sent
}
