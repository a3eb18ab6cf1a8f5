package memory

import (
	"encoding/json"
	"unicode/utf8"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory/kind"
)

// storeName decodes the first argument of a call, which is the name of a store.
func storeName(text json.RawMessage) (string, error) {
	var name string
	if kind.IsAbsent(text) || json.Unmarshal(text, &name) != nil || !utf8.ValidString(name) {
		return "", abi.Faultf(abi.InvalidArgument, "the first argument must be the name of a store").
			WithHint(`for example memory.get_content("userPrefs")`)
	}
	return name, nil
}
