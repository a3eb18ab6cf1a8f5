package agent

import (
	"encoding/json"
	"strings"

	"github.com/toolrun/toolrun/host/agent/abl"
)

const (
	// redacted is the text that replaces a sensitive value.
	redacted = "[REDACTED]"
	// maxMaskChars is the maximum number of masking characters. Because of this maximum, the number
	// of masking characters does not reveal the length of a long value.
	maxMaskChars = 32
)

// masks contains the sensitive values that an agent declares. Variables have their names as keys,
// and facts have their paths as keys. The zero value of masks hides nothing.
type masks map[string]*abl.Sensitive

// newMasks returns the masks of an agent. If one agent of an app declares a fact as sensitive, the
// fact is sensitive for all agents of the app.
func newMasks(d *abl.Document, all []*abl.Document) masks {
	m := masks{}
	for _, other := range all {
		for _, f := range other.Memory.Persistent {
			if f.Sensitive != nil && m[f.Value] == nil {
				m[f.Value] = f.Sensitive
			}
		}
	}
	for _, f := range d.Memory.Persistent {
		if f.Sensitive != nil {
			m[f.Value] = f.Sensitive
		}
	}
	for _, v := range d.Memory.Session {
		if v.Sensitive != nil {
			m[v.Value] = v.Sensitive
		}
	}
	return m
}

// find returns the shortest prefix of a dotted path that is declared as sensitive, or "".
func (m masks) find(path string) string {
	if len(m) == 0 {
		return ""
	}
	for i := range path {
		if path[i] == '.' && m[path[:i]] != nil {
			return path[:i]
		}
	}
	if m[path] != nil {
		return path
	}
	return ""
}

// show returns the display form of the value at a name or a path.
func (m masks) show(name string, value any) any {
	sensitive := m.find(name)
	if sensitive == "" {
		return value
	}
	return display(value, m[sensitive], sensitive)
}

// shown returns the display form of the value of a variable or at a path.
func (p *program) shown(name string, value any) any { return p.masks.show(name, value) }

// display returns the display form of a sensitive value. The value nil means that no value is set,
// and its display form is also nil.
func display(value any, s *abl.Sensitive, name string) any {
	value = abl.Plain(value)
	if value == nil {
		return nil
	}
	switch s.Display {
	case "replace":
		return "[" + strings.ToUpper(name[strings.LastIndexByte(name, '.')+1:]) + "]"
	case "mask":
		if text, ok := scalarText(value); ok {
			return maskText(text, s.Mask)
		}
	}
	return redacted
}

// maskText shows only the first and the last characters of a text. If nothing would remain hidden,
// maskText hides the whole text.
func maskText(text string, m abl.Mask) string {
	char := m.Char
	if char == "" {
		char = "*"
	}
	runes := []rune(text)
	hidden := len(runes) - m.ShowFirst - m.ShowLast
	if hidden <= 0 {
		return strings.Repeat(char, min(len(runes), maxMaskChars))
	}
	return string(runes[:m.ShowFirst]) + strings.Repeat(char, min(hidden, maxMaskChars)) + string(runes[len(runes)-m.ShowLast:])
}

// scalarText returns the text of a value that is not an array or an object.
func scalarText(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case float64, bool:
		text, err := json.Marshal(v)
		return string(text), err == nil
	}
	return "", false
}

// maskedScope is a scope that contains the display forms of sensitive values.
type maskedScope struct {
	abl.Scope
	masks masks
}

// Lookup implements abl.Scope.
func (s maskedScope) Lookup(path []string) (any, int, error) {
	value, names, err := s.Scope.Lookup(path)
	if err != nil || names <= 0 {
		return value, names, err
	}
	name := s.masks.find(strings.Join(path, "."))
	if name == "" {
		return value, names, nil
	}
	for _, part := range path[min(names, len(path)):] {
		object, _ := value.(map[string]any)
		value = object[part]
	}
	return display(value, s.masks[name], name), len(path), nil
}
