package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolrun/toolrun/host/agent/abl"
	"github.com/toolrun/toolrun/host/report"
)

// gather collects the fields of the current step. If the step has COMPLETE_WHEN, GATHER is complete
// when this condition is true. If the step has no COMPLETE_WHEN, GATHER is complete when all
// required fields have a value. While GATHER is not complete, gather asks for the next field.
func (d *dialog) gather(ctx context.Context) (control, error) {
	return d.gatherNext(ctx, d.mem.agent.step(d.mem.state.Step), askOnce)
}

// asking determines how the agent requests a field from the user.
type asking uint8

const (
	askOnce  asking = iota // omit the standard question if the last message is a question
	askAgain               // repeat the question
	askNot                 // only wait
)

func (d *dialog) gatherNext(ctx context.Context, step *abl.Step, how asking) (control, error) {
	if found, err := d.extract(ctx, step); err != nil {
		return control{}, err
	} else if !found {
		if ctl, stop := d.t.attempt(step); stop {
			return ctl, nil
		}
	}
	if err := d.defaults(ctx, step); err != nil {
		return control{}, err
	}
	next, err := d.missing(ctx, step)
	if err != nil {
		return control{}, err
	}
	if step.CompleteWhen != nil {
		done, err := d.completes(ctx, step)
		if err != nil {
			return control{}, err
		}
		if done {
			next = nil
		} else if next == nil {
			if next, err = d.reopen(ctx, step); err != nil {
				return control{}, err
			}
		}
	}
	d.mem.state.Waiting, d.mem.state.Collecting, d.mem.state.Path = "", "", nil
	if next == nil {
		d.mem.state.Collected = nil
		return control{}, nil
	}
	ctl := d.wait(WaitingGather, next.Value)
	if how == askNot {
		return ctl, nil
	}
	return ctl, d.ask(ctx, step, next, how == askAgain)
}

// defaults sets each optional field that has no value to its default.
func (d *dialog) defaults(ctx context.Context, step *abl.Step) error {
	for i := range step.Gather.Fields {
		f := &step.Gather.Fields[i]
		if f.Required || f.Default == nil {
			continue
		}
		set, err := d.isSet(ctx, f.Value)
		if err != nil {
			return err
		}
		if !set {
			if err := d.mem.assign(ctx, f.Name, f.Default); err != nil {
				return err
			}
		}
	}
	return nil
}

// missing returns the first required field that has no value, or nil if all required fields have a
// value.
func (d *dialog) missing(ctx context.Context, step *abl.Step) (*abl.Field, error) {
	for i := range step.Gather.Fields {
		f := &step.Gather.Fields[i]
		if !f.Required {
			continue
		}
		if set, err := d.isSet(ctx, f.Value); err != nil || !set {
			return f, err
		}
	}
	return nil, nil
}

// reopen clears the fields that COMPLETE_WHEN reads, and returns the first of these fields. If
// COMPLETE_WHEN reads no field, reopen returns nil. reopen is called if all required fields have a
// value but COMPLETE_WHEN is false.
func (d *dialog) reopen(ctx context.Context, step *abl.Step) (*abl.Field, error) {
	read := step.CompleteWhen.References()
	var first *abl.Field
	for i := range step.Gather.Fields {
		f := &step.Gather.Fields[i]
		if !slices.ContainsFunc(read, func(r abl.Reference) bool { return isWithin(r.String(), f.Value) }) {
			continue
		}
		if err := d.mem.clear(ctx, f.Name); err != nil {
			return nil, err
		}
		if first == nil {
			first = f
		}
	}
	return first, nil
}

// isWithin reports whether the argument "path" is equal to the argument "outer", or begins with the
// names of "outer".
func isWithin(path, outer string) bool {
	return path == outer || strings.HasPrefix(path, outer+".")
}

// isSet reports whether a path has a value.
func (d *dialog) isSet(ctx context.Context, name string) (bool, error) {
	path := strings.Split(name, ".")
	value, names, err := d.mem.scope(ctx).Lookup(path)
	if err != nil || names == 0 {
		return false, err
	}
	for _, name := range path[names:] {
		object, _ := value.(map[string]any)
		value = object[name]
	}
	return abl.Plain(value) != nil, nil
}

// ask asks the user for a field. If the field is the first field, the prompt of GATHER is sent
// first. Then the prompt of the field is sent. If neither GATHER nor the field has a prompt, a
// standard question is sent. The standard question is omitted if the last message of the turn is a
// question and the argument "repeated" is false.
func (d *dialog) ask(ctx context.Context, step *abl.Step, f *abl.Field, repeated bool) error {
	prompted := false
	if step.Gather.Prompt != nil && len(d.mem.state.Collected) == 0 {
		if err := ask(ctx, d.mem, step.Gather.Prompt); err != nil {
			return err
		}
		prompted = true
	}
	if f.Prompt != nil {
		return ask(ctx, d.mem, f.Prompt)
	}
	if prompted || !repeated && endsWithQuestion(d.log.outcome.Messages) {
		return nil
	}
	return d.log.ask(f.Name.Position, question(f.Value))
}

// endsWithQuestion reports whether the last message ends with a question mark.
func endsWithQuestion(messages []string) bool {
	if len(messages) == 0 {
		return false
	}
	last := strings.TrimRight(messages[len(messages)-1], " \t\r\n")
	return strings.HasSuffix(last, "?") || strings.HasSuffix(last, "\uFF1F") || strings.HasSuffix(last, "\u061F")
}

// question returns the standard question for a field.
func question(field string) string {
	name := field[strings.LastIndexByte(field, '.')+1:]
	return "Please enter the " + strings.ReplaceAll(name, "_", " ") + "."
}

// answer assigns the message to the field that the step requests, and continues the step.
func (d *dialog) answer(ctx context.Context, step *abl.Step) (control, error) {
	i := slices.IndexFunc(step.Gather.Fields, func(f abl.Field) bool { return f.Value == d.mem.state.Collecting })
	if i >= 0 && step.Gather.Model == "" {
		d.t.unread = false
		f := &step.Gather.Fields[i]
		ok, err := d.accept(ctx, f.Name, d.mem.agent.fieldType(step, f.Value), f.Default)
		if err != nil {
			return control{}, err
		}
		if !ok {
			if ctl, stop := d.t.attempt(step); stop {
				return ctl, nil
			}
			return control{kind: wait}, nil
		}
		d.mem.state.Collected = append(d.mem.state.Collected, f.Value)
	}
	path := d.mem.state.Path
	d.t.stepStart = len(d.log.outcome.Messages)
	d.mem.state.Waiting, d.mem.state.Path = "", nil
	return d.t.act(ctx, step, path[min(1, len(path)):])
}

// fieldType returns the type to which the answer for a field is converted. fieldType first looks
// for the type of the field in GATHER of the step. If GATHER declares no type for the field,
// fieldType returns the type of the variable or fact. If that type is also missing, fieldType
// returns the type in another GATHER.
func (p *program) fieldType(step *abl.Step, name string) abl.Type {
	if step.Gather != nil {
		for _, f := range step.Gather.Fields {
			if f.Value == name && f.Type != "" {
				return f.Type
			}
		}
	}
	return cmp.Or(p.typeOf(name), p.fieldTypes[name])
}

// typeOf returns the declared type of a variable or fact, or "".
func (p *program) typeOf(name string) abl.Type {
	if f := p.facts[name]; f != nil {
		return f.Type
	}
	if v := p.variables[name]; v != nil {
		return v.Type
	}
	return ""
}

// accept converts the message to the type of a field, and assigns the result to the field. If the
// conversion fails, accept asks the user for a value of the type and returns false.
func (d *dialog) accept(ctx context.Context, name abl.Name, want abl.Type, standard any) (bool, error) {
	value, problem := convert(d.t.request.Message, want)
	if strings.TrimSpace(d.t.request.Message) == "" && standard != nil {
		value, problem = standard, ""
	}
	if problem != "" {
		d.log.note(report.Trace{Kind: "gather", Name: name.Value, Position: d.log.place(name.Position), Result: passed(false)})
		return false, d.log.ask(name.Position, problem)
	}
	return true, d.store(ctx, name, value)
}

// store assigns the value of a field. If the field is sensitive, the whole message is hidden,
// because the message can contain the value in a different spelling.
func (d *dialog) store(ctx context.Context, name abl.Name, value any) error {
	if d.mem.agent.masks.find(name.Value) != "" {
		hideInput(d.mem)
	}
	if err := d.mem.assign(ctx, name, value); err != nil {
		return err
	}
	d.log.note(report.Trace{Kind: "gather", Name: name.Value, Position: d.log.place(name.Position), Value: d.mem.shownJSON(name.Value, value), Result: passed(true)})
	return d.t.rules.fire(ctx, "entity:"+name.Value+":extracted")
}

var booleans = map[string]bool{"true": true, "yes": true, "y": true, "on": true, "1": true, "false": false, "no": false, "n": false, "off": false, "0": false}

// convert converts a text to a value of a type. If the text cannot be converted, the function
// returns a description of the expected input.
func convert(text string, want abl.Type) (value any, problem string) {
	text = strings.TrimSpace(text)
	switch want {
	case "number":
		if n, ok := abl.NumberOf(text); ok {
			return n, ""
		}
		return nil, "Please enter a number, such as 3."
	case "boolean":
		if b, ok := booleans[strings.ToLower(text)]; ok {
			return b, ""
		}
		return nil, "Please enter yes or no."
	case "date":
		if _, ok := abl.DateOf(text); ok {
			return text, ""
		}
		return nil, "Please enter a date, such as 2026-12-31."
	case "array":
		return convertArray(text)
	case "object":
		var object map[string]any
		if json.Unmarshal([]byte(text), &object) == nil && object != nil {
			return object, ""
		}
		return nil, `Please enter a JSON object, such as {"name": "Ann"}.`
	}
	if text == "" {
		return nil, "Please enter a value."
	}
	return text, ""
}

// convertArray returns the items of a JSON array or of a comma-separated list.
func convertArray(text string) (any, string) {
	var items []any
	if json.Unmarshal([]byte(text), &items) == nil && items != nil {
		return items, ""
	}
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	if len(items) == 0 {
		return nil, "Please enter values, separated by commas."
	}
	return items, ""
}
