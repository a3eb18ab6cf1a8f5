package memory

import (
	"encoding/json"
	"unicode/utf8"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory/kind"
)

// storeName decodes the first argument of a call, which is the name of a store.
func storeName(text json.RawMessage) (string, error) {
	if plainString(text) {
		return string(text[1 : len(text)-1]), nil
	}
	var name string
	if kind.IsAbsent(text) || json.Unmarshal(text, &name) != nil || !utf8.ValidString(name) {
		return "", abi.Faultf(abi.InvalidArgument, "the first argument must be the name of a store").
			WithHint(`pass the name, as in memory.get_content("userPrefs")`)
	}
	return name, nil
}

// plainString reports whether text is a JSON string of ASCII characters without escapes. Almost all
// names have this form, and decoding them with encoding/json would be slower.
func plainString(text json.RawMessage) bool {
	if len(text) < 2 || text[0] != '"' || text[len(text)-1] != '"' {
		return false
	}
	for _, c := range text[1 : len(text)-1] {
		if c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
