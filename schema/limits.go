package schema

import (
	"encoding/json"
	"strconv"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/internal/strictjson"
)

// Violations of this package's limits have the following keywords. JSON Schema does not define
// these keywords.
const (
	// MaxDepth is the keyword for a document that is nested deeper than Limits.Depth.
	MaxDepth = "maxDepth"
	// MaxNumber is the keyword for a number that has more characters, or a larger exponent, than
	// package strictjson accepts.
	MaxNumber = "maxNumber"
	// MaxWork is the keyword for a document whose validation exceeds Limits.Work steps.
	MaxWork = "maxWork"
	// JSONValue is the keyword for a Go value that strictjson.Decode never returns.
	JSONValue = "json"
)

// checkLimits checks the limits that apply to every document, regardless of its schema. checkLimits
// returns the first violation.
func (s *Schema) checkLimits(doc any, at *location, depth int) *abi.Violation {
	violation := func(keyword string, limit json.RawMessage) *abi.Violation {
		return &abi.Violation{Pointer: at.pointer(), Keyword: keyword, Limit: limit}
	}
	if depth > s.limits.Depth {
		return violation(MaxDepth, json.RawMessage(strconv.Itoa(s.limits.Depth)))
	}
	switch doc := doc.(type) {
	case nil, bool, string:
	case json.Number:
		if strictjson.Check([]byte(doc), strictjson.Limits{}) != nil {
			return violation(MaxNumber, nil)
		}
	case []any:
		at.openArray(len(doc))
		for i, element := range doc {
			if v := s.checkLimits(element, at.child(i), depth+1); v != nil {
				return v
			}
		}
	case map[string]any:
		for i, name := range at.open(doc) {
			if v := s.checkLimits(doc[name], at.child(i), depth+1); v != nil {
				return v
			}
		}
	default:
		return violation(JSONValue, nil)
	}
	return nil
}
