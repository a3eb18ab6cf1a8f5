package agent

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/toolrun/toolrun/host/agent/abl"
	"github.com/toolrun/toolrun/host/model"
)

// extract asks the model of GATHER for the fields that the message contains, and assigns their
// values. If GATHER has no model, or if the turn has already used the message, extract does
// nothing. If the message answers a question but contains no field, the result "found" is false.
func (d *dialog) extract(ctx context.Context, step *abl.Step) (found bool, err error) {
	if step.Gather.Model == "" || !d.t.unread || strings.TrimSpace(d.t.request.Message) == "" {
		return true, nil
	}
	d.t.unread = false
	properties := map[string]any{}
	var names []string
	fields := map[string]*abl.Field{}
	for i := range step.Gather.Fields {
		f := &step.Gather.Fields[i]
		properties[f.Value] = schemaOf(d.mem.agent.fieldType(step, f.Value), "", true)
		names = append(names, f.Value)
		fields[f.Value] = f
	}
	task := "Extract the fields that the last message of the user contains. A field that the message does not contain is null."
	if d.mem.state.Collecting != "" {
		task += " The user was asked for " + d.mem.state.Collecting + "."
	}
	values, err := d.object(ctx, step.Gather.Position, step.Gather.Model, task, objectSchema(properties, names))
	if err != nil {
		return false, err
	}
	before := len(d.mem.state.Collected)
	for _, name := range names {
		if values[name] == nil {
			continue
		}
		if err := d.take(ctx, step, fields[name], values[name]); err != nil {
			return false, err
		}
	}
	return d.mem.state.Collecting == "" || len(d.mem.state.Collected) > before, nil
}

// take assigns a value that a model has found. The value is converted to the type of the field if
// the value is a text. The value is ignored if it cannot be converted.
func (d *dialog) take(ctx context.Context, step *abl.Step, f *abl.Field, value any) error {
	want := d.mem.agent.fieldType(step, f.Value)
	if text, ok := value.(string); ok {
		converted, problem := convert(text, want)
		if problem != "" {
			return nil
		}
		value = converted
	}
	if !abl.HasType(value, want) {
		return nil
	}
	d.mem.state.Collected = append(d.mem.state.Collected, f.Value)
	return d.store(ctx, f.Name, value)
}

// object asks a model to extract a JSON object from the message of the user.
func (d *dialog) object(ctx context.Context, at abl.Position, name, task string, schema json.RawMessage) (map[string]any, error) {
	remembered, err := d.t.reason.userMemory(ctx, at)
	if err != nil {
		return nil, err
	}
	if remembered != "" {
		task += "\n" + remembered
	}
	request := model.ChatRequest{
		Messages: []model.Message{{Role: model.System, Content: task}, {Role: model.User, Content: strings.ToValidUTF8(d.t.request.Message, "\uFFFD")}},
		Schema:   schema,
	}
	answer, err := d.t.reason.chat(ctx, at, name, request)
	if err != nil {
		return nil, err
	}
	var values map[string]any
	if err := json.Unmarshal(answer.Object, &values); err != nil {
		return nil, nil // if an answer contains no object, there are no values
	}
	return values, nil
}

// classify asks a model which of a step's intents the message expresses, and returns the index of
// this intent. If no intent matches, classify returns -1.
func (d *dialog) classify(ctx context.Context, step *abl.Step, intents []*abl.SubIntent) (int, error) {
	phrases := []any{}
	for _, in := range intents {
		phrases = append(phrases, in.Intent)
	}
	schema := objectSchema(map[string]any{"intent": map[string]any{"enum": append(phrases, nil)}}, []string{"intent"})
	values, err := d.object(ctx, step.Name.Position, step.IntentModel, "Which intent does the message of the user have? The intent is null if none fits.", schema)
	if err != nil {
		return -1, err
	}
	for i, in := range intents {
		if values["intent"] == in.Intent {
			return i, nil
		}
	}
	return -1, nil
}
