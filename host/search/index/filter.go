package index

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/internal/strictjson"
)

// Limits of filters.
const (
	// MaxFilterBytes is the maximum size of the text of a filter.
	MaxFilterBytes = 64 << 10
	// MaxFilterNames is the maximum number of names in a filter.
	MaxFilterNames = 32
	// MaxFilterValues is the maximum number of values in one list.
	MaxFilterValues = 1000
)

// Filter is a condition on the metadata of entries. The zero Filter accepts all entries. A Filter is
// immutable and safe for concurrent use.
type Filter struct {
	// conditions has one element for each name, sorted by name.
	conditions []condition
}

// condition is a condition on the value under one name.
type condition struct {
	name string
	// The field "in" contains the accepted values. If the field "in" is nil, the value must be in
	// the range from min to max.
	in []scalar
	// The fields min and max are inclusive bounds. If the condition has no lower or no upper bound,
	// the kind of min or max is none.
	min, max scalar
}

const filterHint = `a filter is an object such as {"team": "blue", "year": {"gte": 2020, "lte": 2024}, "lang": {"in": ["de", "fr"]}}`

// ParseFilter reads a filter from a JSON object that maps names of metadata to conditions. A
// condition is an object or a scalar. A scalar accepts only values that are equal to the scalar. An
// object has either the member "in", which is a list of scalars, or at least one of the bounds
// "gte" and "lte". A bound is a number or a string, and two bounds must have the same type. An
// entry is accepted if its values meet all conditions. Values of different types are never equal: 3
// does not equal "3". Strings are ordered by their bytes. An empty text and null are filters that
// accept all entries.
//
// The error is a fault with the code abi.InvalidArgument or, if the filter exceeds a limit,
// abi.TooLarge.
func ParseFilter(filter []byte) (Filter, error) {
	if len(filter) > MaxFilterBytes {
		return Filter{}, abi.Faultf(abi.TooLarge, "the filter has %d bytes; the limit is %d", len(filter), MaxFilterBytes)
	}
	if len(filter) == 0 {
		return Filter{}, nil
	}
	value, err := strictjson.Decode(filter, strictjson.Limits{Depth: 16})
	if err != nil {
		return Filter{}, abi.Faultf(abi.InvalidArgument, "the filter is not valid JSON: %v", err).WithHint("%s", filterHint)
	}
	pairs, ok := value.(map[string]any)
	switch {
	case value == nil:
		return Filter{}, nil
	case !ok:
		return Filter{}, abi.Faultf(abi.InvalidArgument, "the filter must be an object").WithHint("%s", filterHint)
	case len(pairs) > MaxFilterNames:
		return Filter{}, abi.Faultf(abi.TooLarge, "the filter has %d names; the limit is %d", len(pairs), MaxFilterNames)
	}
	var f Filter
	for _, name := range slices.Sorted(maps.Keys(pairs)) {
		c, err := parseCondition(name, pairs[name])
		if err != nil {
			return Filter{}, err
		}
		f.conditions = append(f.conditions, c)
	}
	return f, nil
}

// parseCondition reads the condition on the value under a name.
func parseCondition(name string, value any) (condition, error) {
	switch v := value.(type) {
	case map[string]any:
		return parseOperators(name, v)
	case []any:
		return condition{}, abi.Faultf(abi.InvalidArgument, "the filter compares %s with an array", quote(name)).
			WithHint(`use {"in": [...]} to accept several values`)
	}
	return condition{name: name, in: []scalar{scalarOf(value)}}, nil
}

// parseOperators reads a condition that is an object.
func parseOperators(name string, operators map[string]any) (condition, error) {
	fail := func(format string, args ...any) (condition, error) {
		return condition{}, abi.Faultf(abi.InvalidArgument, "the filter on %s %s", quote(name), fmt.Sprintf(format, args...)).WithHint("%s", filterHint)
	}
	c := condition{name: name}
	for _, operator := range slices.Sorted(maps.Keys(operators)) {
		operand := operators[operator]
		switch operator {
		case "in":
			list, ok := operand.([]any)
			if !ok {
				return fail(`needs an array after "in"`)
			}
			if len(list) > MaxFilterValues {
				return condition{}, abi.Faultf(abi.TooLarge, "the filter on %s lists %d values; the limit is %d", quote(name), len(list), MaxFilterValues)
			}
			c.in = make([]scalar, len(list))
			for i, element := range list {
				if c.in[i] = scalarOf(element); c.in[i].kind == none {
					return fail("lists an array or an object; only scalars can be compared")
				}
			}
		case "gte", "lte":
			bound := scalarOf(operand)
			if bound.kind != number && bound.kind != text {
				return fail("needs a number or a string after %q", operator)
			}
			if operator == "gte" {
				c.min = bound
			} else {
				c.max = bound
			}
		default:
			return fail("has the unknown operator %s; the operators are \"gte\", \"in\" and \"lte\"", quote(operator))
		}
	}
	return c, c.check(fail)
}

// check returns an error if the operators of the condition cannot be combined.
func (c condition) check(fail func(string, ...any) (condition, error)) error {
	var err error
	bounded := c.min.kind != none || c.max.kind != none
	switch {
	case c.in != nil && bounded:
		_, err = fail(`combines "in" with "gte" or "lte"`)
	case c.in == nil && !bounded:
		_, err = fail("is an object without an operator; the operators are \"gte\", \"in\" and \"lte\"")
	case c.min.kind != none && c.max.kind != none && c.min.kind != c.max.kind:
		_, err = fail("has a number and a string as bounds")
	}
	return err
}

// Matches reports whether the filter accepts an entry with the given metadata. The values of the
// metadata must have the Go types that encoding/json produces. Values that are not scalars do not
// match any condition.
func (f Filter) Matches(metadata map[string]any) bool {
	for _, c := range f.conditions {
		value, ok := metadata[c.name]
		if !ok || !c.matches(scalarOf(value)) {
			return false
		}
	}
	return true
}

// matches reports whether a value meets the condition.
func (c condition) matches(value scalar) bool {
	if c.in != nil {
		return value.kind != none && slices.Contains(c.in, value)
	}
	if value.kind != cmp.Or(c.min.kind, c.max.kind) {
		return false
	}
	return (c.min.kind == none || compare(value, c.min) >= 0) && (c.max.kind == none || compare(value, c.max) <= 0)
}

// quote returns a name in quotes. quote shortens long names.
func quote(name string) string {
	const limit = 128
	if len(name) > limit {
		name = strings.ToValidUTF8(name[:limit], "") + "..."
	}
	return strconv.Quote(name)
}
