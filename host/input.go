package host

import (
	"encoding/json"
	"errors"
	"maps"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/internal/bytesize"
	"github.com/toolrun/toolrun/internal/strictjson"
	"github.com/toolrun/toolrun/schema"
)

// If possible, the host processes documents as text, because decoded values use up to forty times
// as much memory.

// documents returns the limits on the JSON documents that callers, tools and the host exchange.
func (l Limits) documents() strictjson.Limits {
	return strictjson.Limits{Depth: l.ValueNesting, Values: l.Values}
}

// decode checks a document. If the document must be validated against a schema, decode returns the
// decoded value.
func (l Limits) decode(text json.RawMessage, s *schema.Schema) (any, error) {
	if s == nil {
		return nil, strictjson.Check(text, l.documents())
	}
	return strictjson.Decode(text, l.documents())
}

// documentFault returns the fault that reports a rejected document.
func documentFault(code abi.Code, name string, err error) error {
	if refused, ok := errors.AsType[*strictjson.Error](err); ok && refused.Kind != strictjson.Malformed {
		return abi.Faultf(code, "the %s exceeds a limit: %v", name, err)
	}
	return abi.Faultf(code, "the %s is not valid JSON: %v", name, err)
}

// document checks the size of an invocation's input or context. If the document is empty, document
// returns {}.
func (l Limits) document(name string, text json.RawMessage) (json.RawMessage, error) {
	if len(text) == 0 {
		return json.RawMessage("{}"), nil
	}
	if limit := l.InputBytes; len(text) > limit {
		return nil, abi.Faultf(abi.InputInvalid, "the %s has %d bytes; the limit is %s", name, len(text), bytesize.Format(int64(limit)))
	}
	return text, nil
}

// hostContext contains the members that the host adds to the context of each run. The fields are in
// alphabetical order, because addTo encodes a map, whose members are in this order too.
type hostContext struct {
	App     string            `json:"appId"`
	Env     map[string]string `json:"env"`
	Run     string            `json:"runId"`
	Session any               `json:"sessionId"`
	Steps   struct{}          `json:"steps"`
	User    any               `json:"userId"`
}

// contextDocument returns the context that the guest gets. contextDocument adds the host's members
// to the invocation's context. If the invocation's context has a member with the same name, the
// host's member replaces it.
func (r *run) contextDocument() (json.RawMessage, error) {
	env := make(map[string]string, len(r.tool.Env)+len(r.inv.Env))
	maps.Copy(env, r.tool.Env)
	maps.Copy(env, r.inv.Env)
	c := hostContext{
		App: r.h.app.ID, Env: env, Run: r.info.ID,
		Session: nullIfEmpty(r.inv.Caller.Session), User: nullIfEmpty(r.inv.Caller.User),
	}
	if len(r.inv.Context) == 0 { // in the usual case, no map is needed
		return strictjson.Encode(c)
	}
	own, err := r.limits.document("context", r.inv.Context)
	if err != nil {
		return nil, err
	}
	if err := strictjson.Check(own, r.limits.documents()); err != nil {
		return nil, documentFault(abi.InputInvalid, "context", err)
	}
	return c.addTo(own)
}

// addTo adds the host's members to the document of a caller.
func (c hostContext) addTo(own json.RawMessage) (json.RawMessage, error) {
	var members map[string]json.RawMessage
	if json.Unmarshal(own, &members) != nil || members == nil {
		return nil, abi.Faultf(abi.InputInvalid, "the context must be a JSON object")
	}
	doc := make(map[string]any, len(members)+6)
	for name, text := range members {
		doc[name] = text
	}
	doc["appId"], doc["env"], doc["runId"], doc["sessionId"], doc["userId"] = c.App, c.Env, c.Run, c.Session, c.User
	if steps := members["steps"]; steps == nil || string(steps) == "null" {
		doc["steps"] = c.Steps
	}
	return strictjson.Encode(doc)
}

func nullIfEmpty(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// canonical returns a document in canonical form. If two documents differ only in white space or in
// the order of members, their canonical forms are equal. A document that exceeds the limits is
// returned unchanged, because every run rejects it.
func (l Limits) canonical(text json.RawMessage) []byte {
	if len(text) > l.InputBytes {
		return text
	}
	value, err := strictjson.Decode(text, l.documents())
	if err != nil {
		return text
	}
	encoded, err := strictjson.Encode(value)
	if err != nil {
		return text
	}
	return encoded
}
