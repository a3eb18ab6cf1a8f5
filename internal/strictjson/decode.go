package strictjson

import (
	"bytes"
	"encoding/json"
)

// Decode checks text and returns its value as map[string]any, []any, string, json.Number, bool or
// nil. Numbers keep their literals. If Check returns an error, Decode returns this error.
func Decode(text []byte, lim Limits) (any, error) {
	if err := Check(text, lim); err != nil {
		return nil, err
	}
	d := decoder{walker{text: text}}
	return d.value(), nil
}

// String returns the value of a JSON string that has passed Check.
func String(text []byte) string {
	w := walker{text: text}
	return string(w.name())
}

// decoder decodes a text that has passed Check. Every run decodes documents, so the decoder does
// not check the text again, as encoding/json would.
type decoder struct{ walker }

func (d *decoder) value() any {
	d.separators()
	switch d.peek() {
	case '{':
		return d.object()
	case '[':
		return d.array()
	case '"':
		return string(d.name())
	case 't':
		d.pos += len("true")
		return true
	case 'f':
		d.pos += len("false")
		return false
	case 'n':
		d.pos += len("null")
		return nil
	}
	start := d.pos
	d.skip()
	return json.Number(d.text[start:d.pos])
}

func (d *decoder) object() map[string]any {
	object := map[string]any{}
	for d.pos++; ; {
		d.separators()
		if d.take('}') {
			return object
		}
		name := string(d.name())
		object[name] = d.value()
	}
}

func (d *decoder) array() []any {
	array := []any{}
	for d.pos++; ; {
		d.separators()
		if d.take(']') {
			return array
		}
		array = append(array, d.value())
	}
}

// take skips the next byte if it is c, and reports whether it did.
func (d *decoder) take(c byte) bool {
	if d.peek() != c {
		return false
	}
	d.pos++
	return true
}

// IsObject reports whether a text that has passed Check is an object.
func IsObject(text []byte) bool {
	text = bytes.TrimLeft(text, " \t\r\n")
	return len(text) > 0 && text[0] == '{'
}
