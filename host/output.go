package host

import (
	"encoding/json"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/internal/strictjson"
)

// checkOutput checks the output of a run. The output must be valid JSON, be within the limits, and
// match the tool's output schema. The engine also checks the output, but the host cannot trust an
// isolated engine, because a guest could have compromised it.
func (r *run) checkOutput(out engine.Output) (engine.Output, error) {
	if len(out.Output) == 0 {
		out.Output = json.RawMessage("null")
	}
	if err := r.tool.checkOutput(out.Output, r.limits); err != nil {
		return out, err
	}
	return out, r.limits.checkContext(out.Context)
}

// checkContext checks the context keys that a guest has added or changed.
func (l Limits) checkContext(changes json.RawMessage) error {
	if len(changes) == 0 {
		return nil
	}
	limits := l.documents()
	limits.Depth++ // the depth limit applies to the values, not to the context
	if err := strictjson.Check(changes, limits); err != nil {
		return documentFault(abi.OutputInvalid, "context", err)
	}
	var keys map[string]json.RawMessage
	if json.Unmarshal(changes, &keys) != nil || keys == nil {
		return abi.Faultf(abi.OutputInvalid, "the context is not a JSON object")
	}
	for key := range keys {
		if engine.ReservedKey(key) {
			return engine.ReservedKeyFault("context." + key)
		}
	}
	return nil
}
