package schema

import (
	"encoding/json"
	"strconv"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/internal/strictjson"
)

// Keywords that no JSON Schema has. They are those of violations that come from the bounds of this package.
const (
	// MaxDepth says that the document nests deeper than Limits.Depth.
	MaxDepth = "maxDepth"
	// MaxNumber says that a number has more characters, or a larger exponent, than jsondoc reads.
	MaxNumber = "maxNumber"
	// MaxWork says that checking the document takes more steps than Limits.Work.
	MaxWork = "maxWork"
	// JSONValue says that the value is none that strictjson.Decode returns.
	JSONValue = "json"
)

// admit looks for what a document must not have whatever its schema says. It returns the first it meets.
func (s *Schema) admit(doc any, at *place, depth int) *abi.Violation {
	refused := func(keyword string, limit json.RawMessage) *abi.Violation {
		return &abi.Violation{Pointer: at.pointer(), Keyword: keyword, Limit: limit}
	}
	if depth > s.limits.Depth {
		return refused(MaxDepth, json.RawMessage(strconv.Itoa(s.limits.Depth)))
	}
	switch doc := doc.(type) {
	case nil, bool, string:
	case json.Number:
		if strictjson.Check([]byte(doc), strictjson.Limits{}) != nil {
			return refused(MaxNumber, nil)
		}
	case []any:
		at.openArray(len(doc))
		for i, element := range doc {
			if v := s.admit(element, at.child(i), depth+1); v != nil {
				return v
			}
		}
	case map[string]any:
		for i, name := range at.open(doc) {
			if v := s.admit(doc[name], at.child(i), depth+1); v != nil {
				return v
			}
		}
	default:
		return refused(JSONValue, nil)
	}
	return nil
}
