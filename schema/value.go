package schema

import (
	"encoding/json"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// kinds is a set of JSON types. Every number is numeric. A number without a fraction has both the
// kind number and the kind whole.
type kinds uint8

const (
	null kinds = 1 << iota
	boolean
	text
	numeric
	whole
	array
	object

	scalar = null | boolean | text | numeric | whole
)

var kindNames = map[string]kinds{
	"null": null, "boolean": boolean, "string": text, "array": array, "object": object,
	"number": numeric, "integer": whole,
}

// kindOf returns the JSON type of a decoded value. kindOf returns none for a Go value that
// strictjson.Decode never returns. kindOf does not check whether a number is whole.
func kindOf(v any) kinds {
	switch v.(type) {
	case nil:
		return null
	case bool:
		return boolean
	case string:
		return text
	case json.Number:
		return numeric
	case []any:
		return array
	case map[string]any:
		return object
	}
	return 0
}

// holds reports whether the type of v is in the set.
func (k kinds) holds(v any) bool {
	if kindOf(v)&k != 0 {
		return true
	}
	n, ok := v.(json.Number)
	return ok && k&whole != 0 && isWhole(n)
}

// isPlain reports whether a number token consists only of a sign and digits.
func isPlain(n json.Number) bool { return !strings.ContainsAny(string(n), ".eE") }

func isWhole(n json.Number) bool { return isPlain(n) || rational(n).IsInt() }

// rational returns the exact value of a number token. The token must have passed checkLimits, which
// limits its length.
func rational(n json.Number) *big.Rat {
	r, ok := new(big.Rat).SetString(string(n))
	if !ok {
		return new(big.Rat)
	}
	return r
}

// identity returns a string that is equal for equal JSON values. In this comparison, the order of
// members does not matter, and numbers are compared by value.
func identity(v any) string { return string(appendIdentity(nil, v)) }

func appendIdentity(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, 'n')
	case bool:
		return strconv.AppendBool(b, v)
	case string:
		return appendText(append(b, '"'), v)
	case json.Number:
		return appendNumber(append(b, '#'), v)
	case []any:
		b = append(b, '[')
		for _, element := range v {
			b = append(appendIdentity(b, element), ',')
		}
		return append(b, ']')
	case map[string]any:
		b = append(b, '{')
		for _, name := range sortedKeys(v) {
			b = append(appendIdentity(appendText(b, name), v[name]), ',')
		}
		return append(b, '}')
	}
	return append(b, '?')
}

// appendText appends the length of a text and then the text. The length separates the text from the
// text that follows.
func appendText(b []byte, s string) []byte {
	b = append(strconv.AppendInt(b, int64(len(s)), 10), ':')
	return append(b, s...)
}

func appendNumber(b []byte, n json.Number) []byte {
	if isPlain(n) && n != "-0" {
		return append(b, n...)
	}
	return append(b, rational(n).RatString()...)
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
