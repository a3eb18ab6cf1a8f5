package host

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/internal/jsondoc"
)

// document bounds what an invocation gives; nothing is an empty object.
func (r *run) document(name string, text json.RawMessage) (json.RawMessage, error) {
	if len(text) == 0 {
		return json.RawMessage("{}"), nil
	}
	if limit := r.h.limits.InputBytes; len(text) > limit {
		return nil, abi.Faultf(abi.InputInvalid, "the %s has %d bytes, and may have %d", name, len(text), limit)
	}
	return text, nil
}

// contextDocument is what the guest sees as its context: what the invocation gives, under what the host knows.
func (r *run) contextDocument() (json.RawMessage, error) {
	given, err := r.document("context", r.inv.Context)
	if err != nil {
		return nil, err
	}
	value, err := jsondoc.Decode(given, jsondoc.Limits{Depth: engine.DefaultValueNesting})
	if err != nil {
		return nil, abi.Faultf(abi.InputInvalid, "the context is not valid JSON: %v", err)
	}
	doc, ok := value.(map[string]any)
	if !ok {
		return nil, abi.Faultf(abi.InputInvalid, "the context must be a JSON object")
	}
	env := map[string]any{}
	for name, value := range r.tool.Env {
		env[name] = value
	}
	for name, value := range r.inv.Env {
		env[name] = value
	}
	doc["env"] = env
	doc["runId"] = r.info.ID
	doc["appId"] = r.h.app.ID
	doc["userId"] = orNull(r.inv.Caller.User)
	doc["sessionId"] = orNull(r.inv.Caller.Session)
	if doc["steps"] == nil {
		doc["steps"] = map[string]any{}
	}
	return jsondoc.Encode(doc)
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// fingerprint tells one input from another for an idempotency key. Inputs that differ only in white space or in
// the order of members are the same.
func (r *run) fingerprint() string {
	if r.inv.Key == "" {
		return ""
	}
	h := sha256.New()
	env, err := json.Marshal(r.inv.Env)
	if err != nil {
		env = nil // a map of strings is always JSON
	}
	for _, part := range []string{r.inv.Tool, string(env), canonical(r.input), canonical(r.inv.Context), canonical(r.inv.Metadata)} {
		var size [8]byte
		for i, n := 0, len(part); i < len(size); i, n = i+1, n>>8 {
			size[i] = byte(n)
		}
		h.Write(size[:])
		h.Write([]byte(part))
	}
	return hex.EncodeToString(h.Sum(nil))
}

func canonical(text json.RawMessage) string {
	value, err := jsondoc.Decode(text, jsondoc.Limits{})
	if err != nil {
		return string(text)
	}
	encoded, err := jsondoc.Encode(value)
	if err != nil {
		return string(text)
	}
	return string(encoded)
}
