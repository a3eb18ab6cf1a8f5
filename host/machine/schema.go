package machine

import (
	"encoding/json"
	"strings"
)

// InputSchema returns the JSON Schema of the input. The schema allows only the fields of the
// section "accepts".
func (d *Document) InputSchema() json.RawMessage {
	return schemaOf(d.Accepts, true, func(f Field) bool { return f.Required && f.Default == nil })
}

// OutputSchema returns the JSON Schema of the output. If the machine has no section "responds
// with", OutputSchema returns nil. The schema also allows fields that the section does not declare.
func (d *Document) OutputSchema() json.RawMessage {
	if len(d.Responds) == 0 {
		return nil
	}
	return schemaOf(d.Responds, false, func(f Field) bool { return !f.Optional })
}

// AnswerSchema returns the JSON Schema of the model's answer to a step "ask". If the answer is a
// text, AnswerSchema returns nil.
func (s Step) AnswerSchema() json.RawMessage {
	if len(s.Returns) == 0 {
		return nil
	}
	return schemaOf(s.Returns, true, func(f Field) bool { return !f.Optional })
}

// schemaOf returns the JSON Schema of an object. The properties are in the order of the fields.
func schemaOf(fields []Field, closed bool, required func(Field) bool) json.RawMessage {
	var properties, names []string
	for _, f := range fields {
		properties = append(properties, jsonText(f.Value)+`:`+f.schema())
		if required(f) {
			names = append(names, jsonText(f.Value))
		}
	}
	text := `{"type":"object","properties":{` + strings.Join(properties, ",") + `}`
	if len(names) > 0 {
		text += `,"required":[` + strings.Join(names, ",") + `]`
	}
	if closed {
		text += `,"additionalProperties":false`
	}
	return json.RawMessage(text + `}`)
}

var schemaTypes = map[Type]string{
	Text: `"type":"string"`, Number: `"type":"number"`, Integer: `"type":"integer"`, Boolean: `"type":"boolean"`,
	List: `"type":"array"`, Object: `"type":"object"`,
}

// schema returns the JSON Schema for the values of a field.
func (f Field) schema() string {
	var parts []string
	if t := schemaTypes[f.Type]; t != "" {
		parts = append(parts, t)
	}
	if items := schemaTypes[f.Items]; items != "" {
		parts = append(parts, `"items":{`+items+`}`)
	}
	if f.Default != nil {
		parts = append(parts, `"default":`+string(f.Default))
	}
	return `{` + strings.Join(parts, ",") + `}`
}

// jsonText returns a string as JSON.
func jsonText(text string) string {
	encoded, err := json.Marshal(text)
	if err != nil {
		return `""` // strings always encode
	}
	return string(encoded)
}
