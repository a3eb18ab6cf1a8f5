package model

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/internal/strictjson"
	"github.com/toolrun/toolrun/schema"
)

// These constants are the limits of a request.
const (
	MaxMessages     = 1000
	MaxTools        = 128
	MaxRequestBytes = 4 << 20
)

// maxDepth limits the nesting of schemas, arguments and answers.
const maxDepth = 64

// Canonical checks the request and returns it as JSON. The canonical bytes do not depend on the
// formatting of the schemas and arguments. The error is either the fault invalid_argument or the
// fault too_large.
func (r ChatRequest) Canonical() ([]byte, error) {
	if fault := r.check(); fault != nil {
		return nil, fault
	}
	text, err := json.Marshal(r)
	if err != nil {
		return nil, abi.Faultf(abi.InvalidArgument, "the request contains malformed JSON")
	}
	if len(text) > MaxRequestBytes {
		return nil, abi.Faultf(abi.TooLarge, "the request has %d bytes; the limit is %d", len(text), MaxRequestBytes)
	}
	value, err := strictjson.Decode(text, strictjson.Limits{Depth: maxDepth + 8})
	if err != nil {
		return nil, abi.Faultf(abi.InvalidArgument, "the request is invalid: %v", err)
	}
	return strictjson.Encode(value)
}

func (r ChatRequest) check() *abi.Fault {
	switch {
	case len(r.Messages) == 0:
		return abi.Faultf(abi.InvalidArgument, "the request has no messages")
	case len(r.Messages) > MaxMessages:
		return abi.Faultf(abi.TooLarge, "the request has %d messages; the limit is %d", len(r.Messages), MaxMessages)
	case len(r.Tools) > MaxTools:
		return abi.Faultf(abi.TooLarge, "the request offers %d tools; the limit is %d", len(r.Tools), MaxTools)
	case r.MaxTokens < 0:
		return abi.Faultf(abi.InvalidArgument, "max_tokens is negative")
	}
	for i, m := range r.Messages {
		if fault := m.check(fmt.Sprintf("messages[%d]", i)); fault != nil {
			return fault
		}
	}
	if fault := checkSchema("schema", r.Schema); fault != nil {
		return fault
	}
	seen := map[string]bool{}
	for i, tool := range r.Tools {
		if tool.Name == "" || seen[tool.Name] {
			return abi.Faultf(abi.InvalidArgument, "tools[%d].name is empty or not unique", i)
		}
		seen[tool.Name] = true
		if fault := checkSchema(fmt.Sprintf("tools[%d].parameters", i), tool.Parameters); fault != nil {
			return fault
		}
	}
	return nil
}

func (m Message) check(name string) *abi.Fault {
	switch m.Role {
	case System, User, Assistant, ToolRole:
	default:
		return abi.Faultf(abi.InvalidArgument, "%s.role is unknown", name).
			WithHint("use the role \"system\", \"user\", \"assistant\" or \"tool\"")
	}
	switch {
	case !utf8.ValidString(m.Content):
		return abi.Faultf(abi.InvalidArgument, "%s.content is not valid UTF-8", name)
	case m.Role == ToolRole && m.ToolCallID == "":
		return abi.Faultf(abi.InvalidArgument, "%s.tool_call_id is missing", name)
	case m.Role != Assistant && len(m.ToolCalls) > 0:
		return abi.Faultf(abi.InvalidArgument, "%s.tool_calls is only allowed for the role \"assistant\"", name)
	}
	return nil
}

func checkSchema(name string, text json.RawMessage) *abi.Fault {
	if text == nil {
		return nil
	}
	if _, err := schema.Compile(text, schema.Options{}); err != nil {
		return abi.Faultf(abi.InvalidArgument, "%s is not a valid JSON schema: %v", name, err)
	}
	return nil
}
