package strictjson

import "strconv"

// Limits contains the limits of a document. If a field is zero, its default applies; zero never
// means "no limit".
type Limits struct {
	// Depth is the maximum nesting of arrays and objects. A scalar has depth 0, and [] has depth 1.
	// Default: 1000. The maximum of Depth is 10000, the limit of encoding/json.
	Depth int
	// Keys is the maximum number of members of one object. Default: 100000.
	Keys int
	// Values is the maximum number of values in the document: scalars, arrays, objects and the
	// document itself. A value of a few bytes of text uses about a hundred bytes of memory.
	// Default: 1000000.
	Values int
}

// These are the defaults of Limits, and the fixed bounds of number tokens.
const (
	DefaultDepth  = 1000
	DefaultKeys   = 100_000
	DefaultValues = 1_000_000

	MaxNumberBytes = 40  // the maximum number of characters of a number token
	MaxExponent    = 308 // the maximum absolute exponent of a number token, which is about the range of float64

	maxDepth = 10_000
)

func (l Limits) withDefaults() Limits {
	if l.Depth <= 0 {
		l.Depth = DefaultDepth
	}
	if l.Keys <= 0 {
		l.Keys = DefaultKeys
	}
	if l.Values <= 0 {
		l.Values = DefaultValues
	}
	l.Depth = min(l.Depth, maxDepth)
	return l
}

// Kind is the reason why a document was rejected.
type Kind string

// Kinds of errors.
const (
	Malformed     Kind = "malformed"       // invalid JSON, such as a duplicate name, invalid UTF-8 or a lone surrogate
	TooDeep       Kind = "too_deep"        // more nesting than Limits.Depth
	TooManyKeys   Kind = "too_many_keys"   // an object has more members than Limits.Keys
	TooManyValues Kind = "too_many_values" // more values than Limits.Values
	BadNumber     Kind = "bad_number"      // a well-formed number token is too long, or its exponent is too large
)

// Error reports why a document was rejected. An Error quotes nothing from the document, so any user
// may see it.
type Error struct {
	// Offset is the position of the error in the text, in bytes, starting at 0.
	Offset int
	// Kind is the reason in machine-readable form.
	Kind Kind
	// Message is the reason in human-readable form.
	Message string
}

// Error returns the message and the offset.
func (e *Error) Error() string {
	return e.Message + " at byte " + strconv.Itoa(e.Offset)
}

// Where returns the location of the error in a text. The argument "name" is the name of the text.
// For example, if the name is "output", a location is output.items[3].
func (e *Error) Where(name string, text []byte) string {
	path := Path(text, e.Offset)
	if path == "" || path[0] == '[' {
		return name + path
	}
	return name + "." + path
}

// Clone returns a deep copy of a result of Decode. The copy shares no object or array with v.
func Clone(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return cloneObject(v)
	case []any:
		return cloneArray(v)
	}
	return v
}

func cloneObject(object map[string]any) map[string]any {
	if object == nil {
		return nil
	}
	c := make(map[string]any, len(object))
	for name, member := range object {
		c[name] = Clone(member)
	}
	return c
}

func cloneArray(array []any) []any {
	if array == nil {
		return nil
	}
	c := make([]any, len(array))
	for i, element := range array {
		c[i] = Clone(element)
	}
	return c
}
