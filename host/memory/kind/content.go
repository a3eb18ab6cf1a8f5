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

// Limits contains limits on the content of a record.
type Limits struct {
	// Bytes is the maximum size of the content. The size is the length of the JSON text.
	Bytes int
	// Depth is the maximum nesting of arrays and objects. Keys is the maximum number of members of
	// an object. Values is the maximum number of values in the content.
	Depth, Keys, Values int
}

// Check checks a content or a merge patch. Check returns a fault if the text is not JSON or exceeds
// the limits.
func (l Limits) Check(content json.RawMessage) error {
	if len(content) > l.Bytes {
		return abi.Faultf(abi.TooLarge, "the content has %d bytes of JSON; the limit is %d", len(content), l.Bytes)
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
		return abi.Faultf(abi.TooLarge, "the content is nested more than %d levels deep", l.Depth)
	case doc.Kind == strictjson.TooManyKeys:
		return abi.Faultf(abi.TooLarge, "an object in the content has more than %d properties", l.Keys)
	case doc.Kind == strictjson.TooManyValues:
		return abi.Faultf(abi.TooLarge, "the content has more than %d values", l.Values)
	}
	return abi.Faultf(abi.InvalidArgument, "the value cannot be stored: %s", doc.Message)
}

// Encode returns a value as JSON. Encode returns a fault if the value exceeds the limits.
func (l Limits) Encode(value any) (json.RawMessage, error) {
	text, err := strictjson.Encode(value)
	if err != nil {
		return nil, err
	}
	return bytes.Clone(text), l.Check(text) // drops the unused capacity of the buffer
}

// Decode decodes a stored content. Decode applies only a size limit. When the content was stored,
// the other limits may have been higher.
func Decode(content json.RawMessage) (any, error) {
	return strictjson.Decode(content, strictjson.Limits{Depth: len(content), Keys: len(content), Values: len(content)})
}

// IsAbsent reports whether an optional argument is missing or null.
func IsAbsent(argument json.RawMessage) bool {
	return len(argument) == 0 || bytes.Equal(bytes.TrimSpace(argument), []byte("null"))
}

// Quote returns a name in quotes. Faults use Quote for names from tool code. Quote shortens long
// names.
func Quote(name string) string { return strconv.Quote(Shorten(name)) }

// Shorten truncates a name from tool code. The maximum length of a name is the maximum length of a
// store name.
func Shorten(name string) string {
	const max = 128
	if len(name) > max {
		return strings.ToValidUTF8(name[:max], "") + "..."
	}
	return name
}

// timeLayout is the format of times in replies. The format is RFC 3339 in UTC with microseconds.
const timeLayout = "2006-01-02T15:04:05.000000Z"

// FormatTime formats a time for replies. For the zero time, the result is nil.
func FormatTime(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := t.UTC().Format(timeLayout)
	return &text
}
