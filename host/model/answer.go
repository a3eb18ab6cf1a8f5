package model

import (
	"encoding/json"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/internal/strictjson"
	"github.com/toolrun/toolrun/schema"
)

// Answer receives the text and the tool calls that a model returned, and checks them. Answer
// returns the text and the tool calls as the answer to the request. If the request has a schema,
// the text must be JSON that matches the schema. The request must contain each tool that is called.
// The arguments must match the schema of the tool. The error is the fault schema_violation. The
// error does not quote the answer.
func (r ChatRequest) Answer(text string, calls []ToolCall) (ChatAnswer, error) {
	if len(calls) > 0 {
		checked, fault := r.checkCalls(calls)
		if fault != nil {
			return ChatAnswer{}, fault
		}
		return ChatAnswer{Text: strings.ToValidUTF8(text, "\ufffd"), ToolCalls: checked}, nil
	}
	if r.Schema == nil {
		return ChatAnswer{Text: strings.ToValidUTF8(text, "\ufffd")}, nil
	}
	object, fault := fit("the model's answer", []byte(text), r.Schema)
	if fault != nil {
		return ChatAnswer{}, fault
	}
	return ChatAnswer{Object: object}, nil
}

func (r ChatRequest) checkCalls(calls []ToolCall) ([]ToolCall, *abi.Fault) {
	parameters := map[string]json.RawMessage{}
	for _, tool := range r.Tools {
		parameters[tool.Name] = tool.Parameters
	}
	checked := make([]ToolCall, 0, len(calls))
	for _, call := range calls {
		text, ok := parameters[call.Name]
		if !ok {
			return nil, abi.Faultf(abi.SchemaViolation, "the model called a tool that was not offered")
		}
		arguments, fault := fit("the arguments of the model's call to "+call.Name, call.Arguments, text)
		if fault != nil {
			return nil, fault
		}
		if !strictjson.IsObject(arguments) {
			return nil, abi.Faultf(abi.SchemaViolation, "the arguments of the model's call to %s are not an object", call.Name)
		}
		checked = append(checked, ToolCall{ID: strings.ToValidUTF8(call.ID, ""), Name: call.Name, Arguments: arguments})
	}
	return checked, nil
}

// fit returns the compact form of a JSON text if the text matches a schema. Without a schema, every
// JSON text is accepted.
func fit(name string, text, schemaText json.RawMessage) (json.RawMessage, *abi.Fault) {
	value, err := strictjson.Decode(text, strictjson.Limits{Depth: maxDepth})
	if err != nil {
		return nil, abi.Faultf(abi.SchemaViolation, "%s: invalid JSON: %v", name, err)
	}
	if schemaText != nil {
		compiled, err := schema.Compile(schemaText, schema.Options{})
		if err != nil {
			return nil, abi.Faultf(abi.InvalidArgument, "the request's schema is not valid: %v", err)
		}
		if violations := compiled.Validate(value); len(violations) > 0 {
			fault := abi.Faultf(abi.SchemaViolation, "%s: %s", name, schema.Summary(violations))
			fault.Violations = violations
			return nil, fault
		}
	}
	compact, err := strictjson.Encode(value)
	if err != nil {
		return nil, abi.Faultf(abi.SchemaViolation, "%s is not valid JSON", name)
	}
	return compact, nil
}
