//lint:file-ignore SA1019 MCP takes logging out after the version of 2026-07-28, and until then clients have nothing else

package mcpapi

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolrun/toolrun/abi"
)

// maxWaiting is how many notifications of a run wait for a client that reads slowly.
const maxWaiting = 1000

var levels = map[abi.Level]mcp.LoggingLevel{
	abi.LevelDebug: "debug", abi.LevelInfo: "info", abi.LevelWarn: "warning", abi.LevelError: "error",
}

// capabilities are what a server can do. None of its lists changes while a session is open.
func capabilities() *mcp.ServerCapabilities {
	return &mcp.ServerCapabilities{
		Logging: &mcp.LoggingCapabilities{}, Tools: &mcp.ToolCapabilities{},
		Prompts: &mcp.PromptCapabilities{}, Resources: &mcp.ResourceCapabilities{},
	}
}

// notifier tells a client what a run does while it runs. A client that does not read must not hold up the run, so a
// goroutine of its own sends, and what is too much is dropped. It is used by one goroutine at a time.
type notifier struct {
	session *mcp.ServerSession
	tool    string
	token   any     // nil where the client does not ask for progress
	steps   float64 // of progress, which must grow
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

// send sends one notification. Where that fails the client is gone, which the answer will find out.
func (n *notifier) send(ctx context.Context, params mcp.Params) {
	switch params := params.(type) {
	case *mcp.LoggingMessageParams:
		_ = n.session.Log(ctx, params) // which knows the level that the client wants
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

// log tells of a line that the tool logged, and of the attempt that logged it where that is a new one.
func (n *notifier) log(attempt int, line abi.LogLine) {
	if attempt != n.attempt {
		n.attempt = attempt
		n.progress(fmt.Sprintf("memory changed meanwhile, attempt %d begins", attempt))
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

// close returns when all is sent, which is before the answer.
func (n *notifier) close() {
	if n.dropped > 0 {
		n.waiting <- &mcp.LoggingMessageParams{
			Level: "warning", Logger: n.tool, Data: fmt.Sprintf("%d notifications were dropped: the client reads too slowly", n.dropped),
		}
	}
	close(n.waiting)
	<-n.sent
}
