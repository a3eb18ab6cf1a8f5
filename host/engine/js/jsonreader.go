package js

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/dop251/goja"

	"github.com/toolrun/toolrun/internal/strictjson"
)

// maxSafeDigits is the number of digits up to which JavaScript represents every integer exactly.
const maxSafeDigits = 15

var errNumber = errors.New("the JSON contains a number that JavaScript cannot represent")

// reader converts a JSON text to values of the guest. strictjson has already checked this text. The
// reader takes a third of the time of JSON.parse.
type reader struct {
	realm *realm
	text  []byte
	pos   int
}

// readJSON converts a text to a value of the guest. The text has already been checked.
func readJSON(r *realm, text json.RawMessage) (goja.Value, error) {
	p := &reader{realm: r, text: text}
	return p.value()
}

func (p *reader) value() (goja.Value, error) {
	switch p.next() {
	case '{':
		return p.object()
	case '[':
		return p.array()
	case '"':
		text, err := p.str()
		return p.realm.vm.ToValue(text), err
	case 't':
		p.pos += len("true")
		return p.realm.vm.ToValue(true), nil
	case 'f':
		p.pos += len("false")
		return p.realm.vm.ToValue(false), nil
	case 'n':
		p.pos += len("null")
		return goja.Null(), nil
	}
	return p.number()
}

// The method "next" skips white space. It then returns the next byte.
func (p *reader) next() byte {
	for {
		switch c := p.text[p.pos]; c {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return c
		}
	}
}

func (p *reader) object() (goja.Value, error) {
	object := p.realm.vm.NewObject()
	p.pos++ // the bracket
	for p.next() != '}' {
		if p.text[p.pos] == ',' {
			p.pos++
			p.next()
		}
		name, err := p.str()
		if err != nil {
			return nil, err
		}
		p.next()
		p.pos++ // the colon
		value, err := p.value()
		if err != nil {
			return nil, err
		}
		define(object, name, value)
	}
	p.pos++
	return object, nil
}

func (p *reader) array() (goja.Value, error) {
	var items []any
	p.pos++ // the bracket
	for p.next() != ']' {
		if p.text[p.pos] == ',' {
			p.pos++
		}
		item, err := p.value()
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	p.pos++
	return p.realm.vm.NewArray(items...), nil
}

// str decodes the string at the current position.
func (p *reader) str() (string, error) {
	start, escaped := p.pos, false
	for p.pos++; p.text[p.pos] != '"'; p.pos++ {
		if p.text[p.pos] == '\\' {
			p.pos++
			escaped = true
		}
	}
	p.pos++
	token := p.text[start:p.pos]
	if !escaped {
		return string(token[1 : len(token)-1]), nil
	}
	var text string
	err := json.Unmarshal(token, &text)
	return text, err
}

func (p *reader) number() (goja.Value, error) {
	start := p.pos
	for p.pos < len(p.text) && isNumberByte(p.text[p.pos]) {
		p.pos++
	}
	token := p.text[start:p.pos]
	if len(token) <= maxSafeDigits && !bytes.ContainsAny(token, ".eE") && !bytes.HasPrefix(token, []byte("-0")) {
		n, err := strconv.ParseInt(string(token), 10, 64)
		return p.realm.vm.ToValue(n), err
	}
	f, err := strconv.ParseFloat(string(token), 64)
	if err != nil {
		return nil, errNumber
	}
	return p.realm.vm.ToValue(f), nil
}

func isNumberByte(c byte) bool {
	return '0' <= c && c <= '9' || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E'
}

// checked reports whether a text is JSON that every JSON reader interprets in the same way.
func checked(text json.RawMessage) bool {
	return strictjson.Check(text, strictjson.Limits{Depth: maxParseNesting}) == nil
}
