package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/internal/strictjson"
)

// bodyLimits applies to all values of a body together. The input, context and metadata of a run
// count against the same limit.
var bodyLimits = strictjson.Limits{Values: 300_000}

// decoder decodes bodies more strictly than encoding/json, so that all readers interpret a body in
// the same way. The framework decodes each body twice: into a value of type "any" for validation,
// and into the Go type of the body. For validation the decoder returns only an outline, because a
// full tree takes hundreds of bytes of memory per byte of the body.
type decoder struct {
	// members contains the names of the members of all bodies. The map value reports whether the
	// member is kept as raw JSON.
	members map[string]bool
}

func (d *decoder) format() huma.Format {
	return huma.Format{Marshal: huma.DefaultJSONFormat.Marshal, Unmarshal: d.decode}
}

func (d *decoder) decode(text []byte, v any) error {
	if whole, first := v.(*any); first {
		if err := strictjson.Check(text, bodyLimits); err != nil {
			return err
		}
		*whole = d.outline(text, 0)
		return nil
	}
	err := json.Unmarshal(text, v)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok { // the text of err contains Go types
		name := wrong.Field[strings.LastIndexByte(wrong.Field, '.')+1:]
		if strings.HasPrefix(wrong.Value, "number") {
			return fmt.Errorf("%s is outside the valid range of numbers", name)
		}
		return fmt.Errorf("%s has the wrong type", name)
	}
	return err
}

const (
	// outlineDepth is the number of levels of an outline. The lowest level contains the members of
	// objects inside a body, such as the members of env.
	outlineDepth = 2
	// outlineMembers is the maximum number of members in the outline of an object inside a body.
	// outlineUnknown is the maximum number of unknown members in the outline of the body. The
	// number of unknown members is limited, because each unknown member causes a separate error.
	outlineMembers = 256
	outlineUnknown = 16
	// outlineItems is the maximum number of items in the outline of an array. outlineItem is the
	// maximum number of members in the outline of an item. These constants limit the number of
	// errors. They are greater than the limits of every array in the API.
	outlineItems = 128
	outlineItem  = 8
	// outlineText is the maximum size of a text in an outline. The outline replaces a larger text
	// by a part of longText with the same number of characters.
	outlineText = 32 << 10
)

// longText has more characters than any member may have.
var longText = strings.Repeat("x", 64<<10+1)

// outline returns the part of a syntactically valid text that the framework validates.
func (d *decoder) outline(text []byte, depth int) any {
	text = trimSpace(text)
	switch text[0] {
	case '{':
		return d.outlineObject(text, depth)
	case '[':
		return d.outlineArray(text, depth)
	case '"':
		if len(text) > outlineText {
			return longText[:min(characters(text), len(longText))]
		}
		return strictjson.String(text)
	}
	var v any
	if json.Unmarshal(text, &v) != nil { // the number is outside the range of float64
		return nil
	}
	return v
}

func (d *decoder) outlineObject(text []byte, depth int) any {
	object := map[string]any{}
	if depth == outlineDepth {
		return object
	}
	unknown := 0
	strictjson.Members(text, func(name, value []byte) bool {
		kept, known := d.members[string(name)]
		switch {
		case depth > 0:
			object[string(name)] = d.outline(value, depth+1)
			return len(object) < outlineMembers
		case kept:
			object[string(name)] = true
		case known:
			object[string(name)] = d.outline(value, depth+1)
		case unknown < outlineUnknown:
			unknown++
			object[string(name[:min(len(name), outlineMembers)])] = true
		}
		return true
	})
	return object
}

// outlineArray returns the outline of an array. If the array is not a member of a body, the outline
// has no items.
func (d *decoder) outlineArray(text []byte, depth int) any {
	var items []any
	if depth != 1 {
		return []any{}
	}
	strictjson.Items(text, func(item []byte) bool {
		switch item[0] {
		case '{':
			object := map[string]any{}
			strictjson.Members(item, func(name, value []byte) bool {
				object[string(name[:min(len(name), outlineMembers)])] = d.outline(value, outlineDepth)
				return len(object) < outlineItem
			})
			items = append(items, object)
		default:
			items = append(items, d.outline(item, outlineDepth))
		}
		return len(items) < outlineItems
	})
	return items
}

// characters returns the number of characters of a quoted JSON string. The string must have passed
// strictjson.Check.
func characters(text []byte) (n int) {
	for i := 1; i < len(text)-1; n++ {
		switch {
		case text[i] != '\\':
			_, size := utf8.DecodeRune(text[i:])
			i += size
		case text[i+1] != 'u':
			i += 2
		case (text[i+2] == 'd' || text[i+2] == 'D') && text[i+3] != '0' && strings.IndexByte("1234567", text[i+3]) < 0: // a pair of surrogates
			i += 12
		default:
			i += 6
		}
	}
	return n
}

func trimSpace(text []byte) []byte {
	for len(text) > 0 && (text[0] == ' ' || text[0] == '\t' || text[0] == '\n' || text[0] == '\r') {
		text = text[1:]
	}
	return text
}

var rawMessage = reflect.TypeFor[json.RawMessage]()

// add records the names of the JSON members of a request body. The argument is the input type of an
// operation, whose field Body has the type of the body.
func (d *decoder) add(input reflect.Type) {
	body, ok := input.FieldByName("Body")
	if !ok || body.Type.Kind() != reflect.Struct {
		return
	}
	for _, field := range reflect.VisibleFields(body.Type) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" {
			continue
		}
		kept := field.Type == rawMessage
		if before, known := d.members[name]; known && before != kept {
			panic("httpapi: the body member " + name + " is raw JSON in one operation but decoded in another")
		}
		d.members[name] = kept
	}
}

// checkPlainText rejects control characters in references and metadata names, because control
// characters could corrupt a terminal or a log.
func checkPlainText(metadata json.RawMessage, references ...string) error {
	for _, text := range references {
		if strings.ContainsFunc(text, unicode.IsControl) {
			return abi.Faultf(abi.InvalidArgument, "session_reference or user_reference contains control characters")
		}
	}
	plain := true
	strictjson.Names(metadata, func(name []byte) bool {
		plain = !strings.ContainsFunc(string(name), unicode.IsControl)
		return plain
	})
	if !plain {
		return abi.Faultf(abi.InvalidArgument, "a name in the metadata contains control characters")
	}
	return nil
}
