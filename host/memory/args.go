package memory

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/internal/bytesize"
	"github.com/toolrun/toolrun/internal/strictjson"
)

// isAbsent reports whether an optional argument was not given; null says the same.
func isAbsent(text json.RawMessage) bool {
	return len(text) == 0 || bytes.Equal(bytes.TrimSpace(text), []byte("null"))
}

// quote shows a name that came from a guest, shortened.
func quote(name string) string { return strconv.Quote(shortened(name)) }

// shortened is a name of a guest's as faults tell it.
func shortened(name string) string {
	const most = 128 // as long as a name may be
	if len(name) > most {
		return strings.ToValidUTF8(name[:most], "") + "..."
	}
	return name
}

func storeName(text json.RawMessage) (string, error) {
	var name string
	if isAbsent(text) || json.Unmarshal(text, &name) != nil || !utf8.ValidString(name) {
		return "", abi.Faultf(abi.InvalidArgument, "the first argument must be the name of a store").
			WithHint(`for example memory.get_content("userPrefs")`)
	}
	return name, nil
}

// options are what a call may say beside its arguments.
type options struct {
	record     bool
	replace    bool
	ifRevision *int64
	ttl        time.Duration
}

// optionReaders read each option; an operation accepts those it names.
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
		return "a revision: a whole number, 0 where the record must not exist"
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

// maxOptionsBytes is far above what the options are that there are. Larger ones are not looked at.
const maxOptionsBytes = 4 << 10

// parseOptions reads the options of a call, of which only the allowed ones may be there.
func parseOptions(text json.RawMessage, allowed ...string) (options, error) {
	var o options
	if isAbsent(text) {
		return o, nil
	}
	if len(text) > maxOptionsBytes {
		return o, abi.Faultf(abi.TooLarge, "the options are larger than %s", bytesize.Format(maxOptionsBytes))
	}
	value, err := strictjson.Decode(text, strictjson.Limits{Depth: 4, Keys: 100})
	fields, ok := value.(map[string]any)
	if err != nil || !ok {
		return o, abi.Faultf(abi.InvalidArgument, "the options must be an object").
			WithHint("it may have: %s", strings.Join(allowed, ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(allowed, name) {
			return o, abi.Faultf(abi.InvalidArgument, "there is no option %s", quote(name)).
				WithHint("the options are: %s", strings.Join(allowed, ", "))
		}
		if fields[name] == nil {
			continue
		}
		if want := optionReaders[name](&o, fields[name]); want != "" {
			return o, abi.Faultf(abi.InvalidArgument, "the option %q takes %s", name, want)
		}
	}
	return o, nil
}

// checkValue refuses a content, or a patch, beyond the limits.
func (s *Service) checkValue(text json.RawMessage) error {
	if len(text) > s.limits.RecordBytes {
		return s.tooLarge(len(text))
	}
	if err := strictjson.Check(text, strictjson.Limits{Depth: s.limits.Depth, Keys: s.limits.Keys, Values: s.limits.Values}); err != nil {
		return s.badDocument(err)
	}
	return nil
}

// decodeChecked reads what was checked before, maybe under wider limits than today's: how large it is bounds it.
func decodeChecked(text json.RawMessage) (any, error) {
	return strictjson.Decode(text, strictjson.Limits{Depth: len(text), Keys: len(text), Values: len(text)})
}

func (s *Service) tooLarge(size int) error {
	return abi.Faultf(abi.TooLarge, "the content has %d bytes of JSON, and a record may have %d", size, s.limits.RecordBytes)
}

func (s *Service) badDocument(err error) error {
	doc, _ := errors.AsType[*strictjson.Error](err)
	switch {
	case doc == nil:
		return abi.Faultf(abi.InvalidArgument, "the value is not valid JSON")
	case doc.Kind == strictjson.TooDeep:
		return abi.Faultf(abi.TooLarge, "the content is nested deeper than %d levels", s.limits.Depth)
	case doc.Kind == strictjson.TooManyKeys:
		return abi.Faultf(abi.TooLarge, "an object in the content has more than %d members", s.limits.Keys)
	case doc.Kind == strictjson.TooManyValues:
		return abi.Faultf(abi.TooLarge, "the content has more than %d values", s.limits.Values)
	}
	return abi.Faultf(abi.InvalidArgument, "the value cannot be stored: %s", doc.Message)
}
