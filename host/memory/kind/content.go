package kind

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/internal/strictjson"
)

// Limits bound the content of a record.
type Limits struct {
	// Bytes bounds the content as JSON.
	Bytes int
	// Depth bounds nested arrays and objects, Keys the members of one object, and Values all values.
	Depth, Keys, Values int
}

// Check returns a fault if a content, or a patch to one, is not JSON within the limits.
func (l Limits) Check(content json.RawMessage) error {
	if len(content) > l.Bytes {
		return abi.Faultf(abi.TooLarge, "the content has %d bytes of JSON, and a record may have %d", len(content), l.Bytes)
	}
	if err := strictjson.Check(content, strictjson.Limits{Depth: l.Depth, Keys: l.Keys, Values: l.Values}); err != nil {
		return l.fault(err)
	}
	return nil
}

func (l Limits) fault(err error) error {
	doc, _ := errors.AsType[*strictjson.Error](err)
	switch {
	case doc == nil:
		return abi.Faultf(abi.InvalidArgument, "the value is not valid JSON")
	case doc.Kind == strictjson.TooDeep:
		return abi.Faultf(abi.TooLarge, "the content is nested deeper than %d levels", l.Depth)
	case doc.Kind == strictjson.TooManyKeys:
		return abi.Faultf(abi.TooLarge, "an object in the content has more than %d members", l.Keys)
	case doc.Kind == strictjson.TooManyValues:
		return abi.Faultf(abi.TooLarge, "the content has more than %d values", l.Values)
	}
	return abi.Faultf(abi.InvalidArgument, "the value cannot be stored: %s", doc.Message)
}

// Encode returns a value as JSON if it is within the limits.
func (l Limits) Encode(value any) (json.RawMessage, error) {
	text, err := strictjson.Encode(value)
	if err != nil {
		return nil, err
	}
	return bytes.Clone(text), l.Check(text) // cut to its size: what it was encoded in had room for more
}

// Decode returns the value of a content that Check has passed, possibly under wider limits than today's: its size bounds it.
func Decode(content json.RawMessage) (any, error) {
	return strictjson.Decode(content, strictjson.Limits{Depth: len(content), Keys: len(content), Values: len(content)})
}

// IsAbsent reports whether an optional argument is missing; null means the same.
func IsAbsent(argument json.RawMessage) bool {
	return len(argument) == 0 || bytes.Equal(bytes.TrimSpace(argument), []byte("null"))
}

// Quote returns a name from a guest as faults show it: in quotes, and shortened.
func Quote(name string) string { return strconv.Quote(Shorten(name)) }

// Shorten returns a name from a guest, cut to the length that a store's name may have.
func Shorten(name string) string {
	const most = 128
	if len(name) > most {
		return strings.ToValidUTF8(name[:most], "") + "..."
	}
	return name
}

// timeLayout is how replies write times: RFC 3339 in UTC with microseconds.
const timeLayout = "2006-01-02T15:04:05.000000Z"

// FormatTime returns a time as replies write it, nil for the zero time.
func FormatTime(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := t.UTC().Format(timeLayout)
	return &text
}
