package agent

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/agent/abl"
	"github.com/toolrun/toolrun/host/model"
	"github.com/toolrun/toolrun/host/report"
)

// These limits apply to requests to models.
const (
	// MaxModelCalls is the maximum number of requests to models in a turn.
	MaxModelCalls = 10
	// MaxToolResultBytes is the maximum size of a tool's output in a request to a model.
	MaxToolResultBytes = 64 << 10
)

// setVariables is the name of the tool that a model calls to set session variables.
const setVariables = "set_variables"

// reasoner executes the steps that have "REASONING: true". reasoner also asks models for values.
type reasoner struct {
	t     *turn
	mem   *memory
	log   *log
	calls int // the number of requests to models
	// memories maps the name of an agent to the part of the agent's prompts that contains the
	// memory of the user.
	memories map[string]string
}

// chat sends a request to a model.
func (r *reasoner) chat(ctx context.Context, at abl.Position, name string, request model.ChatRequest) (model.ChatAnswer, error) {
	if r.calls++; r.calls > MaxModelCalls {
		return model.ChatAnswer{}, r.log.faultf(at, abi.CallLimit, "the turn sends more than %d requests to models", MaxModelCalls).
			WithHint("wait for input with GATHER or ON_INPUT between requests; each answer with tool calls causes another request; this limit is fixed")
	}
	answer, err := r.mem.env.Chat(ctx, r.mem.agent.name, name, request)
	forget(r.mem)
	r.log.note(report.Trace{Kind: "model", Name: name, Position: r.log.place(at), Result: passed(err == nil)})
	return answer, err
}

// step requests answers from the model of a step. The step ends when EXIT_WHEN is true, or after as
// many answers as MAX_TURNS allows.
func (r *reasoner) step(ctx context.Context, step *abl.Step) (control, error) {
	r.t.unread = false
	remembered, err := r.userMemory(ctx, step.Name.Position)
	if err != nil {
		return control{}, err
	}
	request := model.ChatRequest{Messages: r.conversation(step, remembered), Tools: r.tools(step)}
	for {
		answer, err := r.chat(ctx, step.Name.Position, step.Model, request)
		if err != nil {
			return control{}, err
		}
		if len(answer.ToolCalls) == 0 {
			return r.answered(ctx, step, answer.Text)
		}
		request.Messages = append(request.Messages, model.Message{Role: model.Assistant, Content: answer.Text, ToolCalls: answer.ToolCalls})
		for _, call := range answer.ToolCalls {
			content, ctl, err := r.call(ctx, step, call)
			if err != nil {
				return control{}, err
			}
			if ctl.kind == halt {
				return r.t.dialog.wait(WaitingModel, ""), nil
			}
			if ctl.kind == wait {
				r.mem.state.Path = []int{rootModel}
			}
			if ctl.kind != goOn {
				return ctl, nil
			}
			request.Messages = append(request.Messages, model.Message{Role: model.ToolRole, Content: content, ToolCallID: call.ID})
		}
	}
}

// answered sends the answer of the model to the user.
func (r *reasoner) answered(ctx context.Context, step *abl.Step, text string) (control, error) {
	if strings.TrimSpace(text) != "" {
		if err := r.log.say(step.Name.Position, text); err != nil {
			return control{}, err
		}
	}
	r.mem.state.Answers++
	for _, end := range []*abl.Expr{step.ExitWhen, step.CompleteWhen} {
		if end == nil {
			continue
		}
		if done, err := r.mem.holds(ctx, end); err != nil || done {
			return control{}, err
		}
	}
	if step.MaxTurns > 0 && r.mem.state.Answers >= step.MaxTurns {
		return control{}, nil
	}
	return r.t.dialog.wait(WaitingModel, ""), nil
}

// call executes a tool that the model calls. call returns the result that the model receives. The
// constraints on calls are checked before the tool is executed. If the tool fails, the result
// contains the fault.
func (r *reasoner) call(ctx context.Context, step *abl.Step, call model.ToolCall) (string, control, error) {
	var input map[string]any
	if err := json.Unmarshal(call.Arguments, &input); err != nil {
		return `{"error": "the arguments are not a JSON object"}`, control{}, nil
	}
	if call.Name == setVariables && r.mem.set.tools[setVariables].Name == "" {
		return r.set(ctx, step, input)
	}
	if !slices.ContainsFunc(r.offered(step), func(n abl.Name) bool { return n.Value == call.Name }) {
		return `{"error": "the tool does not exist"}`, control{}, nil
	}
	if ctl, err := r.t.rules.calling(ctx, call.Name, input); err != nil || ctl.kind != goOn {
		return "", ctl, err
	}
	fault, err := r.t.acts.execute(ctx, abl.Name{Position: step.Name.Position, Value: call.Name}, input)
	if err != nil {
		return "", control{}, err
	}
	if fault != nil {
		return resultOf(map[string]any{"error": r.mem.failure}), control{}, nil
	}
	return resultOf(r.mem.result), control{}, r.t.rules.fire(ctx, "tool:"+call.Name+":after")
}

// resultOf returns the result of a tool as JSON for a model. If the JSON is too large, resultOf
// truncates the JSON.
func resultOf(value any) string {
	content, err := json.Marshal(value)
	if err != nil {
		return "null"
	}
	if len(content) > MaxToolResultBytes {
		return strings.ToValidUTF8(string(content[:MaxToolResultBytes]), "") + "... (cut off)"
	}
	return string(content)
}

// set assigns values that a model has chosen to session variables.
func (r *reasoner) set(ctx context.Context, step *abl.Step, values map[string]any) (string, control, error) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		v := r.mem.agent.variables[name]
		if v == nil || v.Sensitive != nil {
			return `{"error": "the variable does not exist"}`, control{}, nil
		}
		err := r.mem.assign(ctx, abl.Name{Position: step.Name.Position, Value: name}, values[name])
		var fault *abi.Fault
		if errors.As(err, &fault) && fault.Code == abi.SchemaViolation {
			return resultOf(map[string]any{"error": fault.Message}), control{}, nil
		}
		if err != nil {
			return "", control{}, err
		}
		r.log.note(report.Trace{Kind: "set", Name: name, Position: r.log.place(step.Name.Position), Value: r.mem.shownJSON(name, values[name])})
	}
	return `{"ok": true}`, control{}, nil
}

// offered returns the tools that a step offers to the model. These are the tools in AVAILABLE_TOOLS
// of the step. If the step has no AVAILABLE_TOOLS, offered returns the tools of the agent.
func (r *reasoner) offered(step *abl.Step) []abl.Name {
	if step.AvailableTools != nil {
		return step.AvailableTools
	}
	return r.mem.agent.Tools
}

// tools returns the descriptions of the tools that a step offers to a model.
func (r *reasoner) tools(step *abl.Step) []model.Tool {
	var tools []model.Tool
	for _, name := range r.offered(step) {
		tool := r.mem.set.tools[name.Value]
		tools = append(tools, model.Tool{Name: tool.Name, Description: tool.Description, Parameters: tool.Parameters})
	}
	properties := map[string]any{}
	for name, v := range r.mem.agent.variables {
		if v.Sensitive == nil {
			properties[name] = schemaOf(v.Type, v.Description, false)
		}
	}
	if len(properties) > 0 && r.mem.set.tools[setVariables].Name == "" {
		tools = append(tools, model.Tool{Name: setVariables, Description: "Sets session variables of the conversation.", Parameters: objectSchema(properties, nil)})
	}
	return tools
}

// schemaOf returns the JSON Schema of a declared type.
func schemaOf(t abl.Type, description string, nullable bool) map[string]any {
	s := map[string]any{}
	switch {
	case t == "":
	case t == "date":
		s["description"] = "a date such as 2026-12-31"
		s["type"] = "string"
	default:
		s["type"] = string(t)
	}
	if nullable && s["type"] != nil {
		s["type"] = []any{s["type"], "null"}
	}
	if description != "" {
		s["description"] = description
	}
	return s
}

// objectSchema returns the JSON Schema of an object that has the given members and no others.
func objectSchema(properties map[string]any, required []string) json.RawMessage {
	s := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = required
	}
	content, err := json.Marshal(s)
	if err != nil {
		return nil
	}
	return content
}
