package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"unicode/utf8"
)

// Encode returns v as compact JSON. Object keys are sorted, json.Number literals are unchanged, and
// the text contains no HTML escaping and no final newline. Encode accepts results of Decode, and
// any other value that encoding/json accepts. Strings must be valid UTF-8. The error of Encode
// contains no part of v.
func Encode(v any) ([]byte, error) {
	e := encoder{}
	if err := e.value(v, 0); err != nil {
		// The errors of encoding/json are replaced, because they quote the value.
		return nil, errors.New("encode JSON: the value has no JSON representation")
	}
	return e.buf.Bytes(), nil
}

// encoder encodes results of Decode. It passes all other values to encoding/json, and also strings
// that need escapes.
type encoder struct {
	buf bytes.Buffer
	// json appends to buf. It is nil until the first value that needs encoding/json.
	json *json.Encoder
}

// value appends a value. The argument depth is the number of open arrays and objects.
func (e *encoder) value(v any, depth int) error {
	switch v := v.(type) {
	case nil:
		e.buf.WriteString("null")
		return nil
	case bool:
		e.word(v)
		return nil
	case string:
		return e.str(v)
	case json.Number:
		return e.number(v)
	case map[string]any:
		return e.object(v, depth+1)
	case []any:
		return e.array(v, depth+1)
	}
	return e.other(v)
}

func (e *encoder) word(v bool) {
	if v {
		e.buf.WriteString("true")
	} else {
		e.buf.WriteString("false")
	}
}

// isPlain reports whether encoding/json writes a string without any escape.
func isPlain(s string) bool {
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c < ' ' || c == '"' || c == '\\' {
				return false
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 || r == lineSeparator || r == paragraphSeparator {
			return false
		}
		i += size
	}
	return true
}

// encoding/json escapes these two characters, because JavaScript did not allow them in strings.
const (
	lineSeparator      = '\u2028'
	paragraphSeparator = '\u2029'
)

func (e *encoder) str(s string) error {
	if !isPlain(s) {
		return e.other(s)
	}
	e.buf.WriteByte('"')
	e.buf.WriteString(s)
	e.buf.WriteByte('"')
	return nil
}

// number appends a number. A number that Check would reject is passed to encoding/json.
func (e *encoder) number(n json.Number) error {
	start := e.buf.Len()
	e.buf.WriteString(string(n))
	s := scanner{text: e.buf.Bytes()[start:]}
	if err := s.number(); err == nil && s.pos == len(s.text) {
		return nil
	}
	e.buf.Truncate(start)
	return e.other(n)
}

// errTooDeep is the error of a value that is nested too deeply. The depth of a value that contains
// itself is unlimited.
var errTooDeep = errors.New("the value is nested too deeply")

func (e *encoder) object(object map[string]any, depth int) error {
	if object == nil {
		e.buf.WriteString("null")
		return nil
	}
	if depth > maxDepth {
		return errTooDeep
	}
	e.buf.WriteByte('{')
	names := make([]string, 0, len(object))
	for name := range object {
		names = append(names, name)
	}
	slices.Sort(names)
	for i, name := range names {
		if i > 0 {
			e.buf.WriteByte(',')
		}
		if err := e.str(name); err != nil {
			return err
		}
		e.buf.WriteByte(':')
		if err := e.value(object[name], depth); err != nil {
			return err
		}
	}
	e.buf.WriteByte('}')
	return nil
}

func (e *encoder) array(array []any, depth int) error {
	if array == nil {
		e.buf.WriteString("null")
		return nil
	}
	if depth > maxDepth {
		return errTooDeep
	}
	e.buf.WriteByte('[')
	for i, element := range array {
		if i > 0 {
			e.buf.WriteByte(',')
		}
		if err := e.value(element, depth); err != nil {
			return err
		}
	}
	e.buf.WriteByte(']')
	return nil
}

// other appends a value with encoding/json.
func (e *encoder) other(v any) error {
	if e.json == nil {
		e.json = json.NewEncoder(&e.buf)
		e.json.SetEscapeHTML(false)
	}
	if err := e.json.Encode(v); err != nil {
		return err
	}
	e.buf.Truncate(e.buf.Len() - 1) // the newline after the value
	return nil
}
