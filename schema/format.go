package schema

import (
	"github.com/santhosh-tekuri/jsonschema/v5"
)

// formats are the formats that differ from the library's.
var formats = map[string]func(any) bool{
	"date-time": isTimestamp,
	"regex":     isExpression,
	"duration":  short(jsonschema.Formats["duration"]), // quadratic in the length of the string
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

// ofText converts a check of strings to a format.
func ofText(check func(string) bool) func(any) bool {
	return func(v any) bool {
		s, ok := v.(string)
		return !ok || check(s)
	}
}

// formatOf returns the check of a format, which accepts any value that is not a string. It returns
// nil for an unknown format, which is not an error in any draft.
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

// guarded makes a format reject strings on which the library's check panics.
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

// isTimestamp accepts RFC 3339 timestamps, also without a zone, which means UTC: Python's
// datetime.isoformat() writes them.
func isTimestamp(v any) bool {
	s, ok := v.(string)
	if !ok {
		return true
	}
	strict := jsonschema.Formats["date-time"]
	return strict(s) || strict(s+"Z")
}

// maxShort exceeds the length of any sensible duration or period.
const maxShort = 256

// short rejects long strings before the format checks them.
func short(check func(any) bool) func(any) bool {
	return func(v any) bool {
		if s, ok := v.(string); ok && len(s) > maxShort {
			return false
		}
		return check(v)
	}
}
