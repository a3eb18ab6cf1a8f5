package mcpapi

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/report"
)

// The keys that toolrun adds to the "_meta" member of a result.
const (
	metaRun   = "toolrun/run"
	metaFault = "toolrun/fault"

	metaApproval = "toolrun/approval"
)

// runMeta contains data about a run that is not part of the tool's output.
type runMeta struct {
	RunID    string   `json:"run_id"`
	Attempts int      `json:"attempts"`
	Warnings []string `json:"warnings,omitempty"`
}

// call runs a tool. call returns a failed run as a result instead of a protocol error, so that
// models can read the fault and correct their input.
func (s *session) call(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	ctx, cancel := s.until(ctx)
	defer cancel()
	notify := newNotifier(ctx, req)
	notify.progress("the run begins")
	result, _ := s.api.host.Run(ctx, host.Invocation{
		Tool: req.Params.Name, Caller: s.current(), Input: input(req.Params.Arguments), OnLog: notify.log,
	})
	result = s.elicit(ctx, req, result)
	notify.progress("the run has ended")
	notify.close()
	return answer(result), nil
}

// input returns the arguments of a call, or nil if the call has none.
func input(arguments json.RawMessage) json.RawMessage {
	if bytes.Equal(bytes.TrimSpace(arguments), []byte("null")) {
		return nil
	}
	return arguments
}

func answer(r *report.Result) *mcp.CallToolResult {
	out := &mcp.CallToolResult{Meta: mcp.Meta{metaRun: runMeta{r.RunID, r.Attempts, r.Warnings}}}
	if r.Error != nil {
		out.IsError = true
		out.Meta[metaFault] = r.Error
		out.Content = []mcp.Content{&mcp.TextContent{Text: r.Error.Error()}}
		return out
	}
	if r.Approval != nil {
		out.Meta[metaApproval] = r.Approval
		out.Content = []mcp.Content{&mcp.TextContent{Text: "The run is paused and has stored nothing: " + r.Approval.Effect.Describe(r.Approval.Step) +
			" requires an approval. The token of the approval is " + r.Approval.Token + ". After the approval, the run continues by itself."}}
		return out
	}
	out.Content = []mcp.Content{&mcp.TextContent{Text: string(r.Output)}}
	out.StructuredContent = object(r.Output)
	return out
}
