package document

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory/kind"
	"github.com/toolrun/toolrun/internal/bytesize"
	"github.com/toolrun/toolrun/internal/strictjson"
)

// options are the options of a call, which are its last argument.
type options struct {
	record     bool
	replace    bool
	ifRevision *int64
	ttl        time.Duration
}

// optionReaders contains functions that set each option from its value. If the value is invalid, a
// function returns a description of valid values.
var optionReaders = map[string]func(*options, any) string{
	"record":      func(o *options, v any) string { return readBool(&o.record, v) },
	"replace":     func(o *options, v any) string { return readBool(&o.replace, v) },
	"if_revision": readRevision,
	"ttl":         readTTL,
}

func readBool(to *bool, v any) string {
	b, ok := v.(bool)
	*to = b
	if !ok {
		return "true or false"
	}
	return ""
}

func readRevision(o *options, v any) string {
	number, _ := v.(json.Number)
	n, err := strconv.ParseInt(string(number), 10, 64)
	if err != nil || n < 0 {
		return "a revision: a whole number, or 0 for no record"
	}
	o.ifRevision = &n
	return ""
}

func readTTL(o *options, v any) string {
	text, _ := v.(string)
	r, err := declare.ParseRetention(text)
	if err != nil || r.Session {
		return "a duration such as 90d, 24h, 30m or 10s"
	}
	o.ttl = r.For
	return ""
}

// maxOptionsBytes is the maximum size of encoded options. maxOptionsBytes is much larger than the
// size of all options together.
const maxOptionsBytes = 4 << 10

// parseOptions decodes the options of a call. parseOptions returns a fault for options that are not
// allowed.
func parseOptions(text json.RawMessage, allowed ...string) (options, error) {
	var o options
	if kind.IsAbsent(text) {
		return o, nil
	}
	if len(text) > maxOptionsBytes {
		return o, abi.Faultf(abi.TooLarge, "the options exceed %s", bytesize.Format(maxOptionsBytes))
	}
	value, err := strictjson.Decode(text, strictjson.Limits{Depth: 4, Keys: 100})
	fields, ok := value.(map[string]any)
	if err != nil || !ok {
		return o, abi.Faultf(abi.InvalidArgument, "the options must be an object").
			WithHint("the options are: %s", strings.Join(allowed, ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(allowed, name) {
			return o, abi.Faultf(abi.InvalidArgument, "unknown option %s", kind.Quote(name)).
				WithHint("the options are: %s", strings.Join(allowed, ", "))
		}
		if fields[name] == nil {
			continue
		}
		if want := optionReaders[name](&o, fields[name]); want != "" {
			return o, abi.Faultf(abi.InvalidArgument, "option %q must be %s", name, want)
		}
	}
	return o, nil
}
