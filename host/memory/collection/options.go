package collection

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory/kind"
	"github.com/toolrun/toolrun/internal/strictjson"
)

// Limits of calls.
const (
	// MaxName is the maximum size of an id or of the name of a namespace, in bytes.
	MaxName = 256
	// MaxMetadataBytes is the maximum size of the metadata of an entry. The size is the length of
	// the JSON text.
	MaxMetadataBytes = 16 << 10
	// maxOptionsBytes is the maximum size of the options of a call, including the metadata.
	maxOptionsBytes = 64 << 10
)

// optionLimits contains the limits for the options of a call.
var optionLimits = kind.Limits{Bytes: maxOptionsBytes, Depth: 16, Keys: 1000, Values: 10_000}

// options contains the options of a call. The key is the name of the option, and the value is JSON.
type options map[string]json.RawMessage

// readOptions decodes the options of a call. The options must be an object or absent. The argument
// "what" is the name of the options in faults. If an option is null, it counts as absent.
func readOptions(text json.RawMessage, what string, known ...string) (options, error) {
	found := options{}
	if kind.IsAbsent(text) {
		return found, nil
	}
	names := strings.Join(known, ", ")
	if len(text) > maxOptionsBytes {
		return nil, abi.Faultf(abi.TooLarge, "the %s has %d bytes of JSON; the limit is %d", what, len(text), maxOptionsBytes).
			WithHint("metadata has at most %d bytes, and an id or a namespace has at most %d", MaxMetadataBytes, MaxName)
	}
	if err := optionLimits.Check(text); err != nil {
		return nil, err
	}
	if !strictjson.IsObject(text) {
		return nil, abi.Faultf(abi.InvalidArgument, "the %s must be an object", what).WithHint("the valid members are: %s", names)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, abi.Faultf(abi.InvalidArgument, "the %s is not valid JSON", what)
	}
	for _, name := range known {
		if value, ok := members[name]; ok && !kind.IsAbsent(value) {
			found[name] = value
		}
		delete(members, name)
	}
	unknown := ""
	for name := range members {
		if unknown == "" || name < unknown {
			unknown = name
		}
	}
	if len(members) > 0 {
		return nil, abi.Faultf(abi.InvalidArgument, "the %s has an unknown member %s", what, kind.Quote(unknown)).WithHint("the valid members are: %s", names)
	}
	return found, nil
}

// read calls the function "to" with the value of an option. If the option is absent, the method
// does not call the function.
func (o options) read(name string, to kind.Option) error {
	text, ok := o[name]
	if !ok {
		return nil
	}
	value, err := kind.Decode(text)
	if err != nil {
		return abi.Faultf(abi.InvalidArgument, "the option %q is not valid JSON", name)
	}
	if want := to(value); want != "" {
		return abi.Faultf(abi.InvalidArgument, "the option %q must be %s", name, want)
	}
	return nil
}

// readAll reads several options.
func (o options) readAll(to map[string]kind.Option, order ...string) error {
	for _, name := range order {
		if err := o.read(name, to[name]); err != nil {
			return err
		}
	}
	return nil
}

// nameOption returns an Option whose value is an id. If "empty" is true, the value is the name of a
// namespace, which can be empty.
func nameOption(to *string, empty bool) kind.Option {
	return func(v any) string {
		name, ok := v.(string)
		*to = name
		if !ok || name == "" && !empty || len(name) > MaxName || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
			shortest := "1"
			if empty {
				shortest = "0"
			}
			return "a string of " + shortest + " to " + strconv.Itoa(MaxName) + " bytes without control characters"
		}
		return ""
	}
}

// scoreOption returns an Option whose value is a score.
func scoreOption(to *float64) kind.Option {
	return func(v any) string {
		number, _ := v.(json.Number)
		score, err := strconv.ParseFloat(string(number), 64)
		if *to = score; err != nil || !(score >= 0 && score <= 1) {
			return "a number from 0 to 1"
		}
		return ""
	}
}

// canonical returns the JSON text of a value without spaces and with sorted members. canonical
// returns a fault if the value exceeds limits.
func canonical(value json.RawMessage, limits kind.Limits) (json.RawMessage, error) {
	if err := limits.Check(value); err != nil {
		return nil, err
	}
	decoded, err := kind.Decode(value)
	if err != nil {
		return nil, abi.Faultf(abi.InvalidArgument, "the value is not valid JSON")
	}
	text, err := strictjson.Encode(decoded)
	return bytes.Clone(text), err
}
