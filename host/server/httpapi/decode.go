package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode"

	"github.com/danielgtaylor/huma/v2"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/internal/strictjson"
)

// bodyLimits bound all values of a body together: input, context and metadata of a run share them.
var bodyLimits = strictjson.Limits{Values: 300_000}

// decoder reads bodies more strictly than encoding/json: what passes means the same to every reader. The framework reads
// a body twice, as any value to validate it and as what is wanted. The value is an outline: as a tree, a body takes some
// hundred bytes of memory for each of its own.
type decoder struct {
	// members are those that bodies of operations have, with whether they are kept as they are.
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
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok { // whose text names types of Go
		name := wrong.Field[strings.LastIndexByte(wrong.Field, '.')+1:]
		if strings.HasPrefix(wrong.Value, "number") {
			return fmt.Errorf("%s is no number that it may be", name)
		}
		return fmt.Errorf("%s is of another type than it may be", name)
	}
	return err
}

const (
	// outlineDepth is how deep an outline is: objects in a member of a body, such as env, are looked into.
	outlineDepth = 2
	// outlineMembers is how many members of such an object an outline has, outlineUnknown how many that no body has: each
	// is an error of its own.
	outlineMembers = 256
	outlineUnknown = 16
	// outlineText is how long a text may be to be in an outline: a longer one is beyond any bound that texts have.
	outlineText = 32 << 10
)

var longText = strings.Repeat("x", outlineText)

// outline returns the value of a text that Check takes, as far as it is validated.
func (d *decoder) outline(text []byte, depth int) any {
	text = trimSpace(text)
	switch text[0] {
	case '{':
		return d.outlineObject(text, depth)
	case '[':
		return []any{} // no member of a body is one
	case '"':
		if len(text) > outlineText {
			return longText
		}
	}
	var v any
	if json.Unmarshal(text, &v) != nil { // a number beyond those of float64
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

func trimSpace(text []byte) []byte {
	for len(text) > 0 && (text[0] == ' ' || text[0] == '\t' || text[0] == '\n' || text[0] == '\r') {
		text = text[1:]
	}
	return text
}

var rawMessage = reflect.TypeFor[json.RawMessage]()

// add takes in the members of the body of an input.
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
			panic("httpapi: the member " + name + " of a body is kept as it is in one operation, and decoded in another")
		}
		d.members[name] = kept
	}
}

// plainText refuses names and metadata that would harm who prints them: control characters in references, and in the
// names of members.
func checkPlainText(metadata json.RawMessage, references ...string) error {
	for _, text := range references {
		if strings.ContainsFunc(text, unicode.IsControl) {
			return abi.Faultf(abi.InvalidArgument, "a reference has control characters")
		}
	}
	plain := true
	strictjson.Names(metadata, func(name []byte) bool {
		plain = !strings.ContainsFunc(string(name), unicode.IsControl)
		return plain
	})
	if !plain {
		return abi.Faultf(abi.InvalidArgument, "a name in the metadata has control characters")
	}
	return nil
}
