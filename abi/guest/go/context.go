package toolrun

import (
	"encoding/json"
	"fmt"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/abi/guest/go/internal/imports"
)

// Context is the context of a run: the data that the host and the caller provide in addition to the
// input.
type Context struct {
	RunID string `json:"runId"`
	AppID string `json:"appId"`
	// UserID is the id of the user, and SessionID is the id of the session. An unknown id is "".
	UserID    string `json:"userId"`
	SessionID string `json:"sessionId"`
	// Env contains the environment variables of the tool, which the manifest and the operator set.
	Env map[string]string `json:"env"`
	// Steps contains the results of earlier workflow nodes by node name.
	Steps map[string]json.RawMessage `json:"steps"`
	// Raw is the whole context as JSON, including keys that have no field in this struct.
	Raw json.RawMessage `json:"-"`
}

// GetContext returns the context of the run. GetContext returns an error if steps or env in the
// context have the wrong type.
func GetContext() (Context, error) {
	c := Context{Raw: imports.Context()}
	if err := json.Unmarshal(c.Raw, &c); err != nil {
		return c, fmt.Errorf("read the context: %w", err)
	}
	return c, nil
}

// SetContext sets a key of the context for the workflow steps after this tool. The Result of the
// run contains this change of the context. The keys steps, branch, status and dbquery are reserved
// for the workflow: a run that sets them fails. SetContext fails with abi.InvalidArgument if the
// value cannot be encoded as JSON, and with abi.OutputLimit if the context becomes too large. After
// either fault, the context is unchanged.
func SetContext(key string, value any) error {
	text, err := encode(value)
	if err != nil {
		return abi.Faultf(abi.InvalidArgument, "cannot encode context.%s as JSON: %v", key, err)
	}
	changes := &imports.Changes
	changes.Lock()
	defer changes.Unlock()
	keys := map[string]json.RawMessage{key: text}
	for k, v := range changes.Keys {
		if k != key {
			keys[k] = v
		}
	}
	document, err := encode(keys)
	if err != nil {
		return abi.Faultf(abi.InvalidArgument, "cannot encode the context as JSON: %v", err)
	}
	if number := imports.WriteContext(document); number < 0 {
		return abi.Faultf(codeOf(number), "the host rejected the context key %s (%d bytes of JSON)", key, len(document))
	}
	changes.Keys = keys
	return nil
}
