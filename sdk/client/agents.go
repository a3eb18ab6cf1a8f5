package client

import (
	"context"
	"net/http"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

// Agents is a handle for the agents of the app. Agents is safe for concurrent use.
type Agents struct{ client *Client }

// Agents returns the handle for the agents of the app.
func (c *Client) Agents() Agents { return Agents{c} }

// List lists the agents, sorted by name.
func (h Agents) List(ctx context.Context) ([]apitypes.Agent, error) {
	return items(fetch[apitypes.List[apitypes.Agent]](ctx, h.client, newRequest(http.MethodGet, "agents")))
}

// Turn performs one turn of a conversation. If the turn fails, Turn returns both the result and an
// *Error. If no turn was performed, the result is nil. The turn is canceled when ctx ends. OnRunID
// is not called for turns.
func (h Agents) Turn(ctx context.Context, agent string, turn apitypes.TurnRequest, opts ...RunOption) (*report.Turn, error) {
	return performed(fetchWith[report.Turn](ctx, h.client, newRun(opts, "agents", agent, "turns"), turn))
}

// Preview returns the first request that a turn would send to a model, without sending it. If the
// turn fails before its first request, Preview returns both the result and an *Error.
func (h Agents) Preview(ctx context.Context, agent string, turn apitypes.TurnRequest) (*report.Preview, error) {
	result, err := fetchWith[report.Preview](ctx, h.client, newRequest(http.MethodPost, "agents", agent, "preview"), turn)
	if err != nil || result.OK {
		return result, err
	}
	return result, turnError(result.Error, result.TurnID)
}

// Fire fires an event and returns the facts and instructions that the agent recalls. No flow is
// executed.
func (h Agents) Fire(ctx context.Context, agent string, event apitypes.EventRequest, opts ...RunOption) (*report.Evaluation, error) {
	return evaluated(fetchWith[report.Evaluation](ctx, h.client, newRun(opts, "agents", agent, "events"), event))
}

// Check checks the constraints of an agent at a checkpoint.
func (h Agents) Check(ctx context.Context, agent string, check apitypes.CheckRequest) (*report.Evaluation, error) {
	r := newRequest(http.MethodPost, "agents", agent, "checks")
	return evaluated(fetchWith[report.Evaluation](ctx, h.client, r, check))
}

// Store evaluates the triggers of an agent, in the same way as at the end of a turn.
func (h Agents) Store(ctx context.Context, agent string, triggers apitypes.TriggerRequest, opts ...RunOption) (*report.Evaluation, error) {
	return evaluated(fetchWith[report.Evaluation](ctx, h.client, newRun(opts, "agents", agent, "triggers"), triggers))
}

// performed returns the result of a turn. If the turn failed, the function also returns the error
// of the turn.
func performed(result *report.Turn, err error) (*report.Turn, error) {
	if err != nil || result.OK {
		return result, err
	}
	return result, turnError(result.Error, result.TurnID)
}

// evaluated is like performed, for an evaluation of rules.
func evaluated(result *report.Evaluation, err error) (*report.Evaluation, error) {
	if err != nil || result.OK {
		return result, err
	}
	return result, turnError(result.Error, result.TurnID)
}

// turnError returns the error of a turn that failed.
func turnError(f *abi.Fault, id string) error {
	if f == nil {
		f = abi.Faultf(abi.Internal, "the turn failed, but its result has no error")
	}
	return &Error{Fault: f, Status: http.StatusOK, RunID: id}
}
