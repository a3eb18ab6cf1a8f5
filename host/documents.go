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

// Documents are looked at as texts wherever that will do: as values they take up to forty times the memory.

// documents bounds what crosses between callers, tools and the host.
func (l Limits) documents() strictjson.Limits {
	return strictjson.Limits{Depth: l.ValueNesting, Values: l.Values}
}

// decode checks a document. It returns the value where there is a schema to hold it against.
func (l Limits) decode(text json.RawMessage, s *schema.Schema) (any, error) {
	if s == nil {
		return nil, strictjson.Check(text, l.documents())
	}
	return strictjson.Decode(text, l.documents())
}

// documentFault says why a document was refused.
func documentFault(code abi.Code, name string, err error) error {
	if refused, ok := errors.AsType[*strictjson.Error](err); ok && refused.Kind != strictjson.Malformed {
		return abi.Faultf(code, "the %s is beyond a limit: %v", name, err)
	}
	return abi.Faultf(code, "the %s is not valid JSON: %v", name, err)
}

// document bounds what an invocation gives; nothing is an empty object.
func (l Limits) document(name string, text json.RawMessage) (json.RawMessage, error) {
	if len(text) == 0 {
		return json.RawMessage("{}"), nil
	}
	if limit := l.InputBytes; len(text) > limit {
		return nil, abi.Faultf(abi.InputInvalid, "the %s has %d bytes, and may have %s", name, len(text), bytesize.Format(int64(limit)))
	}
	return text, nil
}

// contextDocument is what the guest sees as its context: what the invocation gives, under what the host knows.
func (r *run) contextDocument() (json.RawMessage, error) {
	given, err := r.limits.document("context", r.inv.Context)
	if err != nil {
		return nil, err
	}
	if err := strictjson.Check(given, r.limits.documents()); err != nil {
		return nil, documentFault(abi.InputInvalid, "context", err)
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(given, &members) != nil || members == nil {
		return nil, abi.Faultf(abi.InputInvalid, "the context must be a JSON object")
	}
	doc := make(map[string]any, len(members)+6)
	for name, text := range members {
		doc[name] = text
	}
	env := map[string]string{}
	maps.Copy(env, r.tool.Env)
	maps.Copy(env, r.inv.Env)
	doc["env"] = env
	doc["runId"] = r.info.ID
	doc["appId"] = r.h.app.ID
	doc["userId"] = orNull(r.inv.Caller.User)
	doc["sessionId"] = orNull(r.inv.Caller.Session)
	if steps := members["steps"]; steps == nil || string(steps) == "null" {
		doc["steps"] = struct{}{}
	}
	return strictjson.Encode(doc)
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// canonical is a document without what means nothing. One beyond the limits, which no run takes, is left as it is.
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
