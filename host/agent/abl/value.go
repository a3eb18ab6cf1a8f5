package abl

import (
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Undefined is the value that a name has if it is not set. Operators and functions treat Undefined
// as null.
type Undefined struct{}

// isUnset reports whether a value is null or undefined.
func isUnset(v any) bool {
	if v == nil {
		return true
	}
	_, undefined := v.(Undefined)
	return undefined
}

// Plain returns nil if the argument "v" is undefined. Otherwise, Plain returns v.
func Plain(v any) any {
	if isUnset(v) {
		return nil
	}
	return v
}

// TypeOf returns the type of a value. The type is "undefined", "null", "boolean", "number",
// "string", "array" or "object".
func TypeOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case float64:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	default:
		return "undefined"
	}
}

// IsTruthy reports whether a value counts as true. These values do not count as true: false, 0, "",
// "false", null, undefined, an empty array and an empty object.
func IsTruthy(v any) bool {
	switch v := v.(type) {
	case bool:
		return v
	case float64:
		return v != 0
	case string:
		return v != "" && v != "false"
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	default:
		return false
	}
}

// maxNumberBytes is the maximum length of a text that can count as a number.
const maxNumberBytes = 400

// parseNumber parses a text that contains a decimal number. A sign before the number and spaces
// around it are allowed.
func parseNumber(s string) (float64, bool) {
	s = strings.TrimSpace(s)
	unsigned := strings.TrimPrefix(s, "-")
	if len(unsigned) == len(s) {
		unsigned = strings.TrimPrefix(s, "+")
	}
	if unsigned == "" || len(s) > maxNumberBytes || numberLength(unsigned) != len(unsigned) {
		return 0, false
	}
	n, err := strconv.ParseFloat(s, 64)
	return n + 0, err == nil
}

// toNumber converts a value to a number for arithmetic. The value can be a number, a text that
// contains a number, true (1) or false (0).
func toNumber(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	case string:
		return parseNumber(v)
	default:
		return 0, false
	}
}

// NumberOf converts a value to a number, in the same way as arithmetic operators do. The value can
// be a number, a text that contains a number, true (1) or false (0).
func NumberOf(v any) (float64, bool) { return toNumber(v) }

// DateOf converts a text to a time, if the text contains a date.
func DateOf(v any) (time.Time, bool) {
	s, ok := v.(string)
	if !ok {
		return time.Time{}, false
	}
	return parseDate(s)
}

// finite returns its argument. If the argument is infinite or not a number, finite returns nil.
// Negative zero becomes zero.
func finite(n float64) any {
	if math.IsInf(n, 0) || math.IsNaN(n) {
		return nil
	}
	return n + 0
}

// formatNumber formats a number as JavaScript does.
func formatNumber(n float64) string {
	if abs := math.Abs(n); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		s := strconv.FormatFloat(n, 'e', -1, 64)
		mantissa, exponent, _ := strings.Cut(s, "e")
		return mantissa + "e" + exponent[:1] + strings.TrimLeft(exponent[1:], "0")
	}
	return strconv.FormatFloat(n+0, 'f', -1, 64)
}

// truncated returns the integer part of a number. The result is limited to the range of the type
// "int".
func truncated(n float64) int {
	const limit = 1 << 40
	return int(math.Trunc(min(max(n, -limit), limit)))
}

// scalarText returns the text of a value. The value must not be an array or an object. For null and
// undefined, the text is "".
func scalarText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case float64:
		return formatNumber(v), true
	case bool:
		return strconv.FormatBool(v), true
	case []any, map[string]any:
		return "", false
	default:
		return "", true
	}
}

func chars(s string) int { return utf8.RuneCountInString(s) }
