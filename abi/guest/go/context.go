package toolrun

import (
	"encoding/json"
	"fmt"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/abi/guest/go/internal/imports"
)

// Context is what a run is told beside its input.
type Context struct {
	RunID string `json:"runId"`
	AppID string `json:"appId"`
	// UserID and SessionID are "" where none is known.
	UserID    string `json:"userId"`
	SessionID string `json:"sessionId"`
	// Env is the tool's environment: what its manifest and whoever runs it have set.
	Env map[string]string `json:"env"`
	// Steps holds what a workflow's nodes came to, by their names.
	Steps map[string]json.RawMessage `json:"steps"`
	// Raw is the whole document, whatever else it holds.
	Raw json.RawMessage `json:"-"`
}

// GetContext returns the context as the run was given it. The error is that of a caller who gave steps or an
// environment of another form.
func GetContext() (Context, error) {
	c := Context{Raw: imports.Context()}
	if err := json.Unmarshal(c.Raw, &c); err != nil {
		return c, fmt.Errorf("read the context: %w", err)
	}
	return c, nil
}

// SetContext adds a key to the context, or changes it, for what comes after the tool: the run's Result has it. A
// run that sets steps, branch, status or dbquery fails, for they belong to the workflow. A value that cannot be
// JSON is abi.InvalidArgument, and too much of it abi.OutputLimit; then nothing was set.
func SetContext(key string, value any) error {
	text, err := encode(value)
	if err != nil {
		return abi.Faultf(abi.InvalidArgument, "the value of context.%s cannot be JSON: %v", key, err)
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
		return abi.Faultf(abi.InvalidArgument, "the context cannot be JSON: %v", err)
	}
	if number := imports.WriteContext(document); number < 0 {
		return abi.Faultf(codeOf(number), "the context with the key %s has %d bytes of JSON and was refused", key, len(document))
	}
	changes.Keys = keys
	return nil
}
