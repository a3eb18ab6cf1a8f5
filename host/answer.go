package host

import (
	"encoding/json"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/internal/strictjson"
)

// checkAnswer decides whether what a run answered is what the engine is to hand on and the tool declares. Engines make
// sure of the former; but an engine behind a wall is one that a guest may have taken over.
func (r *run) checkAnswer(out engine.Output) (engine.Output, error) {
	if len(out.Output) == 0 {
		out.Output = json.RawMessage("null")
	}
	if err := r.tool.checkOutput(out.Output, r.limits); err != nil {
		return out, err
	}
	return out, r.limits.checkContext(out.Context)
}

// checkContext decides whether the keys that a guest added to its context, or changed there, may be its.
func (l Limits) checkContext(changes json.RawMessage) error {
	if len(changes) == 0 {
		return nil
	}
	limits := l.documents()
	limits.Depth++ // it is the values of keys that may nest so deep
	if err := strictjson.Check(changes, limits); err != nil {
		return documentFault(abi.OutputInvalid, "context", err)
	}
	var keys map[string]json.RawMessage
	if json.Unmarshal(changes, &keys) != nil || keys == nil {
		return abi.Faultf(abi.OutputInvalid, "the context is to be a JSON object")
	}
	for key := range keys {
		if engine.OfWorkflow(key) {
			return engine.WorkflowFault("context." + key)
		}
	}
	return nil
}
