package host

import (
	"context"
	"encoding/json"

	"github.com/toolrun/toolrun/host/agent"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/report"
)

// previewName is the name that fingerprints contain for a preview.
const previewName = "preview"

// Preview returns the first model request that a turn would send. The request contains, for
// example, the goal, the instructions and the facts that recalls have injected. Preview sends no
// request and stores nothing. If the turn calls tools before this request, the tools are executed
// in a dry run. The returned Preview is never nil.
func (a Agents) Preview(ctx context.Context, req Turn) (*report.Preview, error) {
	req.DryRun, req.Live = true, false
	t := newTurn(a.h, previewName, req)
	var prompt *report.ModelPrompt
	t.perform = func(ctx context.Context, t *turn, env *agentEnv) error {
		found, err := t.set.Preview(ctx, env, t.agentRequest())
		if prompt = nil; found == nil || err != nil {
			return err
		}
		prompt = &report.ModelPrompt{Model: found.Model}
		prompt.Request, err = json.Marshal(found.Request)
		return err
	}
	var result *report.Preview
	err := t.run(ctx, func(done memory.Done, err error) *report.Result {
		result = &report.Preview{
			TurnID: t.info.ID, Session: t.inv.Caller.Session, Agent: t.info.Agent, OK: err == nil,
			Effects: effectsOr(done.Effects), Attempts: t.attempts,
		}
		if result.Prompt = prompt; err != nil {
			result.Error, result.Prompt = t.fault(err), nil
		}
		return runResult(t, result.TurnID, result.Error, result.Effects, false)
	})
	return result, err
}

// agentRequest returns the request that the turn passes to the agent.
func (t *turn) agentRequest() agent.Request {
	r := agent.Request{Agent: t.req.Agent, Event: t.req.Event}
	if t.req.Message != nil {
		r.Message, r.HasMessage = *t.req.Message, true
	}
	return r
}
