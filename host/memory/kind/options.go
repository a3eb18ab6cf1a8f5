package kind

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/internal/bytesize"
	"github.com/toolrun/toolrun/internal/strictjson"
)

// An Option is a function that receives the value of an option. If the value is wrong, the function
// returns a description of the expected value.
type Option func(value any) (want string)

// BoolOption returns an Option whose value is true or false.
func BoolOption(to *bool) Option {
	return func(v any) string {
		b, ok := v.(bool)
		*to = b
		if !ok {
			return "true or false"
		}
		return ""
	}
}

// RevisionOption returns an Option whose value is the revision of a record.
func RevisionOption(to **int64) Option {
	return func(v any) string {
		number, _ := v.(json.Number)
		n, err := strconv.ParseInt(string(number), 10, 64)
		if err != nil || n < 0 {
			return "a revision (a whole number), or 0 if no record must exist"
		}
		*to = &n
		return ""
	}
}

// TTLOption returns an Option whose value is the lifetime of a record.
func TTLOption(to *time.Duration) Option {
	return func(v any) string {
		text, _ := v.(string)
		r, err := declare.ParseRetention(text)
		if err != nil || r.Session {
			return "a duration such as 90d, 24h, 30m or 10s"
		}
		*to = r.For
		return ""
	}
}

// TextOption returns an Option whose value is a string that is not empty.
func TextOption(to *string) Option {
	return func(v any) string {
		text, _ := v.(string)
		*to = text
		if text == "" {
			return "a string that is not empty"
		}
		return ""
	}
}

// CountOption returns an Option whose value is a whole number from 1 to "max".
func CountOption(to *int, max int) Option {
	return func(v any) string {
		number, _ := v.(json.Number)
		n, err := strconv.Atoi(string(number))
		if err != nil || n < 1 || n > max {
			return "a whole number from 1 to " + strconv.Itoa(max)
		}
		*to = n
		return ""
	}
}

// maxOptionsBytes is the maximum size of the options of a call. The size is checked before the
// options are decoded. Valid options are much smaller than this maximum.
const maxOptionsBytes = 4 << 10

// ReadOptions decodes the options of a call. The options must be an object or absent. If the value
// of an option is null, the option counts as absent. The error is a fault for the guest.
func ReadOptions(text json.RawMessage, known map[string]Option) error {
	if IsAbsent(text) {
		return nil
	}
	if len(text) > maxOptionsBytes {
		return abi.Faultf(abi.TooLarge, "the options exceed %s", bytesize.Format(maxOptionsBytes))
	}
	value, err := strictjson.Decode(text, strictjson.Limits{Depth: 4, Keys: 100})
	fields, ok := value.(map[string]any)
	if err != nil || !ok {
		return abi.Faultf(abi.InvalidArgument, "the options must be an object").
			WithHint("the valid options are: %s", optionNames(known))
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		option, ok := known[name]
		if !ok {
			return abi.Faultf(abi.InvalidArgument, "unknown option %s", Quote(name)).
				WithHint("the valid options are: %s", optionNames(known))
		}
		if fields[name] == nil {
			continue
		}
		if want := option(fields[name]); want != "" {
			return abi.Faultf(abi.InvalidArgument, "the option %q must be %s", name, want)
		}
	}
	return nil
}

func optionNames(known map[string]Option) string {
	return strings.Join(slices.Sorted(maps.Keys(known)), ", ")
}
