package schema

import (
	"github.com/santhosh-tekuri/jsonschema/v5"
)

// formats contains the formats whose checks differ from those of the library.
var formats = map[string]func(any) bool{
	"date-time": isTimestamp,
	"regex":     isExpression,
	"duration":  short(jsonschema.Formats["duration"]), // the check takes time quadratic in the length of the string
	"period":    short(jsonschema.Formats["period"]),

	"uri":           ofText(func(s string) bool { return isURI(s, false, false) }),
	"iri":           ofText(func(s string) bool { return isURI(s, false, true) }),
	"uri-reference": ofText(func(s string) bool { return isURI(s, true, false) }),
	"uriref":        ofText(func(s string) bool { return isURI(s, true, false) }),
	"iri-reference": ofText(func(s string) bool { return isURI(s, true, true) }),
	"uri-template":  ofText(isURITemplate),
	"ipv4":          ofText(isIPv4),
	"ip-address":    ofText(isIPv4),
	"hostname":      ofText(isHostname),
	"idn-hostname":  ofText(isInternationalHost),
	"idn-email":     ofText(isInternationalEmail),
}

// ofText converts a check of strings to a format. The format accepts all values that are not
// strings.
func ofText(check func(string) bool) func(any) bool {
	return func(v any) bool {
		s, ok := v.(string)
		return !ok || check(s)
	}
}

// formatOf returns the check of a format. The check accepts every value that is not a string. For
// an unknown format, formatOf returns nil, because no draft treats an unknown format as an error.
func formatOf(name string) func(any) bool {
	if check, ok := formats[name]; ok {
		return check
	}
	check, ok := jsonschema.Formats[name]
	if !ok {
		return nil
	}
	return guarded(check)
}

// guarded converts panics of the library's check to rejections of the string.
func guarded(check func(any) bool) func(any) bool {
	return func(v any) (ok bool) {
		defer func() {
			if recover() != nil {
				ok = false
			}
		}()
		return check(v)
	}
}

// isTimestamp accepts RFC 3339 timestamps. isTimestamp also accepts timestamps without a time zone,
// which means UTC, because Python's datetime.isoformat() returns such timestamps.
func isTimestamp(v any) bool {
	s, ok := v.(string)
	if !ok {
		return true
	}
	strict := jsonschema.Formats["date-time"]
	return strict(s) || strict(s+"Z")
}

// maxShort is a length in bytes that exceeds every sensible duration or period.
const maxShort = 256

// short returns a format that rejects strings longer than maxShort without further checks.
func short(check func(any) bool) func(any) bool {
	return func(v any) bool {
		if s, ok := v.(string); ok && len(s) > maxShort {
			return false
		}
		return check(v)
	}
}
